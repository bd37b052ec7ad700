/** Composition root: what happens to nodes, here and elsewhere, brought to selection, to the engine and to the other instances. */
import type { HintEvents, Hints } from '../cluster/messaging/hints.ts';
import type { NodeReplica, ReplicaEvents } from '../cluster/nodes/node-replica.ts';
import type { Config } from '../config/settings.ts';
import type { NodeId } from '../domain/ids.ts';
import { useOf } from '../domain/service-use.ts';
import type { MissingModel } from '../management/marks/model-report.ts';
import type { NodeRegistry, NodeStatus, RegistryEvents } from '../management/node-registry.ts';
import type { CapacityLedger } from '../ports/capacity-ledger.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { NodeRecord } from '../ports/node-records.ts';
import type { RunningJobService } from '../runtime/create-job-service.ts';
import type { NodeKnowledge } from '../runtime/engine.ts';
import type { FleetView } from '../runtime/fleet/fleet-view.ts';

const PAGE = 1_000;
const WITHDRAWAL_LOOK_MS = 100;

export function createNodeEvents(deps: {
  config: Config;
  fleet: FleetView;
  ledger: Pick<CapacityLedger, 'loads'>;
  jobs: () => Pick<RunningJobService, 'nodeLeft' | 'nodeReturned'>;
  registry: () => Pick<NodeRegistry, 'get' | 'list'>;
  replica: () => Pick<NodeReplica, 'keep' | 'beat' | 'drop' | 'find'>;
  hints: Pick<Hints, 'nodeNews' | 'missing'>;
  /** No node is blamed for what may be the store's fault. */
  isStoreSteady: () => boolean;
  clock: Clock;
  log: Log;
}) {
  const { config, fleet, ledger, jobs, registry, replica, hints, clock, log } = deps;
  /** New here, and nobody has said yet how full they are. */
  const unweighed = new Set<NodeId>();
  /** Their sockets are about to end: others should give them nothing new. */
  let isLeaving = false;

  const graceOf = ({ view }: NodeRecord): number =>
    view.profile.isLegacy ? 0 : config.scheduler.node_reconnect_grace_ms;

  async function reload(nodeIds: readonly NodeId[]): Promise<void> {
    try {
      for (const [nodeId, load] of await ledger.loads(nodeIds)) fleet.setLoad(nodeId, load);
    } catch (fault) {
      // The first reserve, or the next heartbeat, tells.
      log.debug({ nodes: nodeIds.length, err: fault }, 'how full nodes are is not known yet');
    }
  }

  function weighSoon(nodeId: NodeId): void {
    if (unweighed.size === 0)
      clock.after(0, () => {
        void reload([...unweighed]);
        unweighed.clear();
      });
    unweighed.add(nodeId);
  }

  /** False: it lives on another instance. */
  function keep(nodeId: NodeId, runningJobIds?: readonly string[]): boolean {
    const status = registry().get(nodeId);
    if (status === undefined) return false;
    const record = recordOf(status, runningJobIds);
    return replica().keep(isLeaving ? { ...record, view: { ...record.view, isCordoned: true } } : record);
  }

  function* ownSockets(): Iterable<NodeStatus> {
    let cursor: string | undefined;
    do {
      const page = registry().list(cursor === undefined ? { limit: PAGE } : { limit: PAGE, cursor });
      yield* page.nodes.filter(({ channel, isConnected }) => channel === 'socket' && isConnected);
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  const ofOthers: Omit<ReplicaEvents, 'overtaken'> = {
    changed(record, before) {
      const { nodeId, view, generation } = record;
      fleet.upsert(view);
      if (before === undefined) weighSoon(nodeId);
      // Once each: to be told again that it left would begin its grace anew.
      if (before?.generation === generation && before.isConnected === record.isConnected) return;
      if (record.isConnected) jobs().nodeReturned(nodeId, record.runningJobIds, generation);
      else jobs().nodeLeft(nodeId, graceOf(record));
    },
    beat: (nodeId, at) => fleet.beat(nodeId, at),
    removed(record) {
      fleet.remove(record.nodeId);
      // One that polls, or is called, has no connection to lose.
      if (record.channel === 'socket') jobs().nodeLeft(record.nodeId, graceOf(record));
    },
  };

  return {
    ofOthers,

    /** Keeps others' new jobs away from nodes that must move soon. Resolves when none of them works any more, or the time is over. */
    async withdraw(limitMs: number): Promise<void> {
      isLeaving = true;
      for (const { view } of ownSockets()) keep(view.nodeId);
      const until = clock.now() + limitMs;
      const working = (): NodeId[] =>
        [...ownSockets()]
          .map(({ view }) => view.nodeId)
          .filter((nodeId) => (fleet.load(nodeId)?.used ?? 0) > 0);
      while (working().length > 0 && clock.now() < until) {
        await new Promise<void>((resolve) => clock.after(WITHDRAWAL_LOOK_MS, resolve));
        // What others do is only sent as a hint, and a hint may be lost.
        await reload(working());
      }
    },

    /** What the registry tells, told to the others too. */
    ofOwn: (here: RegistryEvents): RegistryEvents => ({
      ...here,
      changed(view) {
        if (keep(view.nodeId)) here.changed(view);
      },
      loaded(nodeId, load) {
        here.loaded(nodeId, load);
        replica().beat(nodeId, clock.now());
      },
      removed(nodeId, generation) {
        if (replica().drop(nodeId, generation)) here.removed(nodeId, generation);
      },
      connected(nodeId, runningJobIds) {
        keep(nodeId, runningJobIds);
        here.connected(nodeId, runningJobIds);
      },
    }),

    /** What the engine says of nodes, told to whoever holds them. */
    knowledge: (here: NodeKnowledge): NodeKnowledge => {
      const holderOf = (nodeId: NodeId): string | undefined => replica().find(nodeId)?.holder.instanceId;
      return {
        ...here,
        placed(nodeId, need) {
          const holder = holderOf(nodeId);
          if (holder === undefined) here.placed(nodeId, need);
          else hints.nodeNews(holder, nodeId, 'placed', useOf(need));
        },
        outcome(nodeId, outcome, need) {
          const isDoubtful = outcome === 'failed' && !deps.isStoreSteady();
          const word = isDoubtful ? 'unproven' : outcome;
          const holder = holderOf(nodeId);
          if (holder === undefined) here.outcome(nodeId, word, need);
          else hints.nodeNews(holder, nodeId, word, useOf(need));
        },
      };
    },

    /** Tells whoever holds the node that it lacks a model; false: it is nobody else's. */
    passOnMissing(nodeId: NodeId, missing: MissingModel): boolean {
      const holder = replica().find(nodeId)?.holder.instanceId;
      if (holder !== undefined) hints.missing(holder, nodeId, missing);
      return holder !== undefined;
    },
  };
}

/** What others say of attempts on a node of this instance. */
export function recordNews(
  registry: Pick<NodeRegistry, 'recordPlacement' | 'recordOutcome'>,
  ...[nodeId, news, use]: Parameters<HintEvents['nodeNews']>
): void {
  if (news === 'placed') registry.recordPlacement(nodeId, use);
  else registry.recordOutcome(nodeId, news, use);
}

function recordOf(status: NodeStatus, runningJobIds: readonly string[] | undefined) {
  const { view, generation, channel, credential, isConnected, intervalMs, endpoint, region } = status;
  return {
    nodeId: view.nodeId,
    generation,
    channel,
    credential,
    isConnected,
    intervalMs,
    view,
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    ...(runningJobIds !== undefined && { runningJobIds }),
  };
}
