/** Node news with a real fleet and ledger, and a record of everything that is told on. */
import { createCapacityLedger } from '../../../src/adapters/memory/capacity-ledger.ts';
import { createNodeEvents } from '../../../src/app/node-events.ts';
import type { OwnNode } from '../../../src/cluster/nodes/publish-own-nodes.ts';
import type { NodeView } from '../../../src/domain/node.ts';
import type { NodeStatus } from '../../../src/management/node-registry.ts';
import type { NodeRecord } from '../../../src/ports/node-records.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { loaded } from '../../config/loaded.ts';
import { viewFor } from '../../contracts/node-sheets.ts';
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
  isConnected: true,
  intervalMs: 15_000,
  registeredAt: 0,
  resources: { runningJobs: 0 },
  ...parts,
});

export function startNews() {
  const clock = createManualClock();
  const fleet = createFleetView();
  const ledger = createCapacityLedger({ clock });
  /** Whose loads the ledger was asked for. */
  const asked: (readonly string[])[] = [];
  const store = faulty(
    {
      loads(nodeIds: readonly string[]) {
        asked.push(nodeIds);
        return ledger.loads(nodeIds);
      },
    },
    [],
    clock,
  );
  const state = { isElsewhere: false, isSteady: true, records: new Map<string, NodeRecord>() };
  const registry = new Map<string, NodeStatus>();
  /** To the engine, about nodes of others. */
  const told: string[] = [];
  /** To the board. */
  const kept: OwnNode[] = [];
  const beats: string[] = [];
  const dropped: string[] = [];
  /** To another instance, and to this one. */
  const whispered: string[] = [];
  const here: string[] = [];

  const news = createNodeEvents({
    config,
    fleet,
    ledger: store.port,
    jobs: () => ({
      nodeLeft: (nodeId, graceMs) => void told.push(`${nodeId} left ${graceMs}`),
      nodeReturned: (nodeId, jobIds, generation) =>
        void told.push(`${nodeId} returned ${jobIds?.join()} ${generation}`),
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
      nodeNews: (to, nodeId, word, { types }) =>
        void whispered.push(`${to} ${nodeId} ${word} ${types.join()}`),
      missing: (to, nodeId, { serviceId }) => void whispered.push(`${to} ${nodeId} lacks ${serviceId}`),
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
    asked,
    state,
    registry,
    told,
    kept,
    beats,
    dropped,
    whispered,
    here,
    news,
    viewOf: (nodeId: string): NodeView => registry.get(nodeId)?.view ?? viewFor(nodeId),
    own: news.ofOwn({
      changed: ({ nodeId }) => void here.push(`${nodeId} changed`),
      loaded: (nodeId, { used, max }) => void here.push(`${nodeId} loaded ${used}/${max}`),
      removed: (nodeId, generation) => void here.push(`${nodeId} removed ${generation}`),
      statusChanged() {},
      ordered() {},
      disconnected: (nodeId, graceMs) => void here.push(`${nodeId} disconnected ${graceMs}`),
      connected: (nodeId, jobIds) => void here.push(`${nodeId} connected ${jobIds?.join()}`),
    }),
    knowledge: news.knowledge({
      profile: () => undefined,
      placed: (nodeId) => void here.push(`${nodeId} placed`),
      outcome: (nodeId, outcome) => void here.push(`${nodeId} ${outcome}`),
      modelNotAvailable() {},
    }),
    /** Until what was left to the next turn of the event loop has happened. */
    async settle(check: () => boolean): Promise<unknown> {
      await clock.advance(1);
      return eventually(check);
    },
  };
}
