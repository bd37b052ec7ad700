/** Node events with a real fleet view and ledger. Everything that is passed on is recorded. */
import { createCapacityLedger } from '../../../src/adapters/memory/capacity-ledger.ts';
import { createNodeEvents } from '../../../src/cluster/nodes/node-events.ts';
import type { OwnNode } from '../../../src/cluster/nodes/publish-own-nodes.ts';
import type { NodeView } from '../../../src/domain/node.ts';
import type { NodeStatus, RegistryEvents } from '../../../src/management/node-registry.ts';
import type { NodeRecord } from '../../../src/ports/node-records.ts';
import type { NodeKnowledge } from '../../../src/runtime/engine.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { loaded } from '../../config/loaded.ts';
import { viewFor } from '../../contracts/node-record-fixtures.ts';
import { eventually } from '../../support/eventually.ts';
import { faulty } from '../../support/faulty.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { QUIET } from '../messaging/message-bus-rig.ts';

const { config } = loaded();
export const GRACE_MS = config.scheduler.node_reconnect_grace_ms;

export const statusOf = (nodeId: string, parts: Partial<NodeStatus> = {}): NodeStatus => ({
  view: viewFor(nodeId),
  credential: 'credential-1',
  generation: 1,
  channel: 'socket',
  intervalMs: 15_000,
  registeredAt: 0,
  resources: { runningJobs: 0 },
  ...parts,
});

export function startNodeEvents() {
  const clock = createManualClock();
  const fleet = createFleetView();
  const ledger = createCapacityLedger({ clock });
  /** The nodes whose loads were requested from the ledger. */
  const requested: (readonly string[])[] = [];
  const store = faulty(
    {
      loads(nodeIds: readonly string[]) {
        requested.push(nodeIds);
        return ledger.loads(nodeIds);
      },
    },
    [],
    clock,
  );
  const state = { isElsewhere: false, isSteady: true, records: new Map<string, NodeRecord>() };
  const registry = new Map<string, NodeStatus>();
  /** Events for the engine, about nodes of other instances. */
  const toEngine: string[] = [];
  /** Node records of own nodes. */
  const kept: OwnNode[] = [];
  const beats: string[] = [];
  const dropped: string[] = [];
  /** Events for another instance, and for this one. */
  const hinted: string[] = [];
  const here: string[] = [];

  const nodeEvents = createNodeEvents({
    graceMs: GRACE_MS,
    fleet,
    ledger: store.port,
    jobs: () => ({
      nodeLeft: (nodeId, graceMs) => void toEngine.push(`${nodeId} left ${graceMs}`),
      nodeReturned: (nodeId, jobIds, generation) =>
        void toEngine.push(`${nodeId} returned ${jobIds?.join()} ${generation}`),
    }),
    registry: () => ({
      get: (nodeId) => registry.get(nodeId),
      list({ limit, cursor = '0' }) {
        const [from, all] = [Number(cursor), [...registry.values()]];
        const nodes = all.slice(from, from + limit);
        return from + limit < all.length ? { nodes, cursor: String(from + limit) } : { nodes };
      },
    }),
    replica: () => ({
      keep(node) {
        kept.push(node);
        return !state.isElsewhere;
      },
      beat: (nodeId, at) => void beats.push(`${nodeId} ${at}`),
      drop(nodeId, generation) {
        dropped.push(`${nodeId} ${generation}`);
        return !state.isElsewhere;
      },
      find: (nodeId) => state.records.get(nodeId),
    }),
    hints: {
      attemptOutcome: (to, nodeId, word, { types }) =>
        void hinted.push(`${to} ${nodeId} ${word} ${types.join()}`),
      missing: (to, nodeId, { serviceId }) => void hinted.push(`${to} ${nodeId} lacks ${serviceId}`),
    },
    isStoreSteady: () => state.isSteady,
    clock,
    log: QUIET,
  });

  return {
    clock,
    fleet,
    ledger,
    store,
    requested,
    state,
    registry,
    toEngine,
    kept,
    beats,
    dropped,
    hinted,
    here,
    nodeEvents,
    viewOf: (nodeId: string): NodeView => registry.get(nodeId)?.view ?? viewFor(nodeId),
    own: nodeEvents.ofOwn<RegistryEvents>({
      changed: ({ nodeId }) => void here.push(`${nodeId} changed`),
      loaded: (nodeId, { used, max }) => void here.push(`${nodeId} loaded ${used}/${max}`),
      removed: (nodeId, generation) => void here.push(`${nodeId} removed ${generation}`),
      statusChanged() {},
      ordered() {},
      disconnected: (nodeId, graceMs) => void here.push(`${nodeId} disconnected ${graceMs}`),
      connected: (nodeId, jobIds) => void here.push(`${nodeId} connected ${jobIds?.join()}`),
    }),
    knowledge: nodeEvents.knowledge<NodeKnowledge>({
      profile: () => undefined,
      placed: (nodeId) => void here.push(`${nodeId} placed`),
      outcome: (nodeId, outcome) => void here.push(`${nodeId} ${outcome}`),
      modelNotAvailable() {},
    }),
    /** Waits until what was deferred to the next turn of the event loop has happened. */
    async settle(check: () => boolean): Promise<unknown> {
      await clock.advance(1);
      return eventually(check);
    },
  };
}
