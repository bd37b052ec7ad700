/**
 * Hot path: brings events of nodes to where they are needed. Changes of own nodes go to selection and to the other instances, changes of
 * other instances' nodes to selection and the engine, and what the engine learns about a node goes to the node's holder.
 */
import type { NodeId } from '../../domain/ids.ts';
import type { Load } from '../../domain/lease.ts';
import type { Need } from '../../domain/need.ts';
import type { NodeView } from '../../domain/node.ts';
import { type ServiceUse, useOf } from '../../domain/service-use.ts';
import { sleep } from '../../domain/with-timeout.ts';
import type { CapacityLedger } from '../../ports/capacity-ledger.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { NodeRecord } from '../../ports/node-records.ts';
import type { AttemptOutcome, Hints, MissingModelHint } from '../messaging/hints.ts';
import type { NodeReplica, ReplicaEvents } from './node-replica.ts';
import type { OwnNode } from './publish-own-nodes.ts';

/** The fleet view of selection. */
interface Fleet {
  upsert(view: NodeView): void;
  setLoad(nodeId: NodeId, load: Load): void;
  beat(nodeId: NodeId, at: number): void;
  remove(nodeId: NodeId): void;
  load(nodeId: NodeId): Load | undefined;
}

interface EngineEvents {
  nodeLeft(nodeId: NodeId, graceMs: number): void;
  nodeReturned(nodeId: NodeId, jobIds: readonly string[] | undefined, generation?: number): void;
}

/** A node as the registry of this instance has it. */
type RegisteredNode = Omit<OwnNode, 'nodeId' | 'runningJobIds' | 'programVersion'> & {
  /** Of the node program. */
  readonly version?: string;
};

interface Registry {
  get(nodeId: NodeId): RegisteredNode | undefined;
  list(query: { readonly limit: number; readonly cursor?: string }): {
    readonly nodes: readonly RegisteredNode[];
    readonly cursor?: string;
  };
}

export interface OwnNodeEvents {
  changed(view: NodeView): void;
  loaded(nodeId: NodeId, load: Load): void;
  removed(nodeId: NodeId, generation: number): void;
  connected(nodeId: NodeId, runningJobIds: readonly string[] | undefined): void;
}

/** What the engine learns about nodes. */
export interface Knowledge {
  placed(nodeId: NodeId, need: Need): void;
  outcome(nodeId: NodeId, outcome: Exclude<AttemptOutcome, 'placed'>, need: Need): void;
}

const PAGE = 1_000;
const WITHDRAWAL_CHECK_MS = 100;

export function createNodeEvents(deps: {
  /** How long a node that lost its connection may take to return; legacy nodes have no grace. */
  graceMs: number;
  fleet: Fleet;
  ledger: Pick<CapacityLedger, 'loads'>;
  jobs: () => EngineEvents;
  registry: () => Registry;
  replica: () => Pick<NodeReplica, 'keep' | 'beat' | 'drop' | 'find'>;
  hints: Pick<Hints, 'attemptOutcome' | 'missing'>;
  /** While the store is unsteady, no failure counts against a node. */
  isStoreSteady: () => boolean;
  clock: Clock;
  log: Log;
}) {
  const { fleet, ledger, jobs, registry, replica, hints, clock, log } = deps;
  /** New nodes whose load is not read yet. */
  const unread = new Set<NodeId>();
  /** This instance shuts down: the others should give its nodes no new jobs. */
  let isLeaving = false;

  const graceOf = ({ view }: NodeRecord): number => (view.profile.isLegacy ? 0 : deps.graceMs);
  const holderOf = (nodeId: NodeId): string | undefined => replica().find(nodeId)?.holder.instanceId;

  async function readLoads(nodeIds: readonly NodeId[]): Promise<void> {
    try {
      for (const [nodeId, load] of await ledger.loads(nodeIds)) fleet.setLoad(nodeId, load);
    } catch (fault) {
      // The first reserve or the next heartbeat has the load.
      log.debug({ nodes: nodeIds.length, err: fault }, 'the loads of new nodes could not be read');
    }
  }

  function readLoadSoon(nodeId: NodeId): void {
    if (unread.size === 0)
      clock.after(0, () => {
        void readLoads([...unread]);
        unread.clear();
      });
    unread.add(nodeId);
  }

  /** False: another instance holds the node. */
  function keep(nodeId: NodeId, runningJobIds?: readonly string[]): boolean {
    const node = registry().get(nodeId);
    if (node === undefined) return false;
    const record = recordOf(node, runningJobIds);
    return replica().keep(isLeaving ? { ...record, view: { ...record.view, isCordoned: true } } : record);
  }

  function* ownSockets(): Iterable<NodeId> {
    let cursor: string | undefined;
    do {
      const page = registry().list(cursor === undefined ? { limit: PAGE } : { limit: PAGE, cursor });
      for (const { view, channel } of page.nodes)
        if (channel === 'socket' && view.isConnected) yield view.nodeId;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  const ofOthers: Omit<ReplicaEvents, 'overtaken'> = {
    changed(record, before) {
      const { nodeId, view, generation } = record;
      fleet.upsert(view);
      if (before === undefined) readLoadSoon(nodeId);
      // Once per connection: a second `nodeLeft` would start the grace again.
      if (before?.generation === generation && before.view.isConnected === view.isConnected) return;
      if (view.isConnected) jobs().nodeReturned(nodeId, record.runningJobIds, generation);
      else jobs().nodeLeft(nodeId, graceOf(record));
    },
    beat: (nodeId, at) => fleet.beat(nodeId, at),
    removed(record) {
      fleet.remove(record.nodeId);
      // A node that polls or has an endpoint has no connection to lose.
      if (record.channel === 'socket') jobs().nodeLeft(record.nodeId, graceOf(record));
    },
  };

  return {
    ofOthers,

    /** The node, at this instance or another one. */
    find: (nodeId: NodeId) => replica().find(nodeId) ?? registry().get(nodeId),

    /** Cordons the nodes on sockets for the other instances. Resolves when no job runs on them, or at the limit. */
    async withdraw(limitMs: number): Promise<void> {
      isLeaving = true;
      for (const nodeId of ownSockets()) keep(nodeId);
      const until = clock.now() + limitMs;
      const working = (): NodeId[] =>
        [...ownSockets()].filter((nodeId) => (fleet.load(nodeId)?.used ?? 0) > 0);
      while (working().length > 0 && clock.now() < until) {
        await sleep(clock, WITHDRAWAL_CHECK_MS);
        // Loads that other instances changed arrive as hints, which may be lost.
        await readLoads(working());
      }
    },

    /** The same events, which also publish the node. */
    ofOwn: <Events extends OwnNodeEvents>(here: Events): Events => ({
      ...here,
      changed(view: NodeView) {
        if (keep(view.nodeId)) here.changed(view);
      },
      loaded(nodeId: NodeId, load: Load) {
        here.loaded(nodeId, load);
        replica().beat(nodeId, clock.now());
      },
      removed(nodeId: NodeId, generation: number) {
        if (replica().drop(nodeId, generation)) here.removed(nodeId, generation);
      },
      connected(nodeId: NodeId, runningJobIds: readonly string[] | undefined) {
        keep(nodeId, runningJobIds);
        here.connected(nodeId, runningJobIds);
      },
    }),

    /** Sends what the engine learns about a node to the node's holder. */
    knowledge: <Here extends Knowledge>(here: Here): Here => ({
      ...here,
      placed(nodeId: NodeId, need: Need) {
        const holder = holderOf(nodeId);
        if (holder === undefined) here.placed(nodeId, need);
        else hints.attemptOutcome(holder, nodeId, 'placed', useOf(need));
      },
      outcome(nodeId: NodeId, outcome: Exclude<AttemptOutcome, 'placed'>, need: Need) {
        const isUncertain = outcome === 'failed' && !deps.isStoreSteady();
        const counted = isUncertain ? 'unproven' : outcome;
        const holder = holderOf(nodeId);
        if (holder === undefined) here.outcome(nodeId, counted, need);
        else hints.attemptOutcome(holder, nodeId, counted, useOf(need));
      },
    }),

    /** Sends to the holder of the node that it lacks a model. False: no other instance holds it. */
    passOnMissing(nodeId: NodeId, missing: MissingModelHint): boolean {
      const holder = holderOf(nodeId);
      if (holder !== undefined) hints.missing(holder, nodeId, missing);
      return holder !== undefined;
    },
  };
}

/** Records the outcome of an attempt that another instance drives on a node of this one. */
export const recordAttemptOutcome =
  (
    registry: () => {
      recordPlacement(nodeId: NodeId, use: ServiceUse): void;
      recordOutcome(nodeId: NodeId, outcome: Exclude<AttemptOutcome, 'placed'>, use: ServiceUse): void;
    },
  ) =>
  (nodeId: NodeId, outcome: AttemptOutcome, use: ServiceUse): void => {
    if (outcome === 'placed') registry().recordPlacement(nodeId, use);
    else registry().recordOutcome(nodeId, outcome, use);
  };

function recordOf(node: RegisteredNode, runningJobIds: readonly string[] | undefined): OwnNode {
  const { view, generation, channel, credential, intervalMs, endpoint, region, zone, platform, version } =
    node;
  return {
    nodeId: view.nodeId,
    generation,
    channel,
    credential,
    intervalMs,
    view,
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    ...(zone !== undefined && { zone }),
    ...(platform !== undefined && { platform }),
    ...(version !== undefined && { programVersion: version }),
    ...(runningJobIds !== undefined && { runningJobIds }),
  };
}
