/**
 * Background actor: keeps a replica of the nodes of all other instances, and publishes this instance's own nodes.
 *
 * Notices name changed records; a pass over all records, a bounded part per tick, finds changes whose notices were lost. After a start and
 * after an outage removals are held off for one TTL of a node record. A node whose record is absent without a withdrawal is kept for as long.
 */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { InstanceName } from '../../ports/instances.ts';
import type { Log } from '../../ports/log.ts';
import {
  isLater,
  type NodeRecord,
  type NodeRecords,
  type RecordStatus,
  type RecordVersion,
} from '../../ports/node-records.ts';
import { createDeadHolders } from './dead-holders.ts';
import { judgeNodeRecord, type KnownNode } from './judge-node-record.ts';
import { createOwnNodePublisher, type OwnNode } from './publish-own-nodes.ts';

export interface ReplicaSettings {
  readonly tickMs: number;
  /** How late a change is found whose notice was lost, unless a pass takes longer. */
  readonly verifyMs: number;
  /** The longest TTL of a node record. */
  readonly presenceMs: number;
  /** How often own ids are listed: well below the time after which the store forgets them. */
  readonly enlistMs: number;
  /** The limit of nodes of other instances. Further ones are refused. */
  readonly maxNodes: number;
  /** Node records and ids read per tick. */
  readonly readsPerTick: number;
}

/** Limits what nodes of other instances declare. */
export interface ReplicaBudget {
  /** Undefined: within the limits. Otherwise nothing changes. */
  declare(
    nodeId: NodeId,
    declaration: Pick<NodeRecord, 'credential'> & {
      readonly profile: NodeRecord['view']['profile'];
      readonly parts: readonly (object | undefined)[];
    },
  ): { readonly message: string } | undefined;
  drop(nodeId: NodeId): void;
}

export interface ReplicaEvents {
  /** A node of another instance is new or changed. `before`: the record known so far. */
  changed(record: NodeRecord, before: NodeRecord | undefined): void;
  beat(nodeId: NodeId, at: number): void;
  /** The node is gone, or no instance can reach it. */
  removed(record: NodeRecord): void;
  /** Another instance holds a newer connection of a node that was held here. May be called more than once. */
  overtaken(nodeId: NodeId, generation: number): void;
}

export interface NodeReplica {
  /** Resolves after the first pass over all records, or its failure. */
  start(): Promise<void>;
  /** The node registered or changed here. False: another instance holds a newer connection, and selection keeps that view. */
  keep(node: OwnNode): boolean;
  /** A heartbeat of a node that is held here. */
  beat(nodeId: NodeId, at: number): void;
  /** The node left here. False: another instance holds it, and selection keeps that view. */
  drop(nodeId: NodeId, generation: number): boolean;
  /** The record of a node of another instance. */
  find(nodeId: NodeId): NodeRecord | undefined;
  /** The nodes of all other instances. */
  all(): Iterable<NodeRecord>;
  /** An instance is dead: its sockets are gone, and its nodes cannot be reached until they connect again. */
  removeNodesOf(instanceId: string): void;
  /** These live. A store that fails over may forget that it declared one of them dead. */
  seen(living: ReadonlyMap<string, InstanceName>): void;
  /** The store was away, or its master changed: removals are held off, and own nodes are published again. */
  republish(): void;
  /** `refused`: nodes that are not used because a limit is reached. They are read again later. */
  stats(): Readonly<{ known: number; own: number; refused: number; isHoldingOff: boolean }>;
  /** Withdraws own nodes whose sockets end with this instance. */
  stop(): Promise<void>;
}

const MAX_PER_READ = 128;
const MAX_CONCURRENT_READS = 8;
const MAX_PAGES_PER_TICK = 16;
const MAX_TO_READ = 10_000;

export function createNodeReplica(deps: {
  nodeRecords: NodeRecords;
  clock: Clock;
  chance: Chance;
  log: Log;
  self: () => InstanceName;
  isFenced: () => boolean;
  budget: ReplicaBudget;
  settings: ReplicaSettings;
  events: ReplicaEvents;
}): NodeReplica {
  const { nodeRecords, clock, log, settings, events, budget } = deps;
  /** In the order of their last read. */
  const known = new Map<NodeId, KnownNode>();
  /** Named by notices and not yet read. */
  const toRead = new Set<NodeId>();
  /** Being read. One read per node at a time, so that a late answer cannot undo a later one. */
  const beingRead = new Set<NodeId>();
  /** Above a limit, and not read again before they leave this map. */
  const refused = createBoundedMap<NodeId, true>({
    max: settings.maxNodes,
    maxAgeMs: settings.presenceMs,
    now: clock.now,
  });
  const dead = createDeadHolders();
  const own = createOwnNodePublisher({
    ...deps,
    enlistMs: settings.enlistMs,
    onFault: unreachable,
    overtaken(nodeId, generation) {
      events.overtaken(nodeId, generation);
      requestReads([nodeId]);
    },
  });
  let reads = 0;
  let holdOffUntil = clock.now() + settings.presenceMs;
  /** One log line per outage, not one per read. */
  let quietUntil = 0;
  /** The same for refused nodes. */
  let refusalQuietUntil = 0;
  let cursor: string | undefined;
  let unsubscribe: (() => Promise<void>) | undefined;
  let cancel: Cancel | undefined;
  let isStopped = false;

  const isHoldingOff = (): boolean => clock.now() < holdOffUntil;

  function holdOff(): void {
    holdOffUntil = clock.now() + settings.presenceMs;
  }

  function unreachable(fault?: unknown): void {
    holdOff();
    if (clock.now() < quietUntil) return;
    quietUntil = clock.now() + settings.presenceMs;
    log.warn({ err: fault }, 'node records could not be read from Redis; removals are held off');
  }

  function receiveNotices(notices: readonly RecordVersion[]): void {
    requestReads(notices.filter(isNewer).map(({ nodeId }) => nodeId));
  }

  function isNewer(notice: RecordVersion): boolean {
    const mine = own.get(notice.nodeId);
    if (mine !== undefined) return notice.generation > mine.generation;
    const node = known.get(notice.nodeId);
    return node === undefined || isLater(notice, node.record);
  }

  function requestReads(nodeIds: readonly NodeId[]): void {
    for (const nodeId of nodeIds) if (toRead.size < MAX_TO_READ) toRead.add(nodeId);
    startReads();
  }

  function startReads(): void {
    while (!isStopped && reads < MAX_CONCURRENT_READS) {
      const some: NodeId[] = [];
      for (const nodeId of toRead) {
        if (some.length === MAX_PER_READ) break;
        if (!beingRead.has(nodeId)) some.push(nodeId);
      }
      if (some.length === 0) return;
      for (const nodeId of some) toRead.delete(nodeId);
      void readRecords(some);
    }
  }

  /** Never rejects. Skips nodes that are being read. */
  async function readRecords(nodeIds: readonly NodeId[]): Promise<void> {
    const free = nodeIds.filter((nodeId) => !beingRead.has(nodeId));
    if (free.length === 0) return;
    for (const nodeId of free) beingRead.add(nodeId);
    reads += 1;
    try {
      const statuses = await nodeRecords.read(free.map((nodeId) => known.get(nodeId)?.record ?? { nodeId }));
      if (!isStopped) for (const [nodeId, status] of statuses) applyStatus(nodeId, status);
    } catch (fault) {
      unreachable(fault);
    } finally {
      reads -= 1;
      for (const nodeId of free) beingRead.delete(nodeId);
      startReads();
    }
  }

  function applyStatus(nodeId: NodeId, status: RecordStatus): void {
    if (status.kind === 'unknown') unreachable();
    const mine = own.get(nodeId);
    if (mine !== undefined) {
      if (status.kind !== 'present' || status.generation <= mine.generation) return;
      own.yieldTo(nodeId, status.generation);
    }
    const decision = judgeNodeRecord(known.get(nodeId), status, {
      now: clock.now(),
      isHoldingOff: isHoldingOff(),
      absentForMs: settings.presenceMs,
      verifyMs: settings.verifyMs,
      retryMs: settings.tickMs,
    });
    if (decision.kind === 'ignore' || (decision.kind === 'take' && dead.isOfDeadHolder(decision.node.record)))
      return;
    const excess = decision.kind === 'take' ? excessOf(decision.node.record) : undefined;
    if (excess !== undefined) {
      refuse(nodeId, excess);
      return;
    }
    const before = known.get(nodeId)?.record;
    if (decision.kind === 'remove') {
      remove(nodeId);
      return;
    }
    known.delete(nodeId);
    known.set(nodeId, decision.node);
    if (decision.kind === 'take') events.changed(decision.node.record, before);
    if (decision.kind === 'seen') events.beat(nodeId, decision.seenAt);
  }

  function excessOf({ nodeId, credential, view, runningJobIds }: NodeRecord): string | undefined {
    if (!known.has(nodeId) && known.size >= settings.maxNodes) {
      return `the scheduler has its ${settings.maxNodes} nodes (scheduler.max_nodes)`;
    }
    return budget.declare(nodeId, { credential, profile: view.profile, parts: [runningJobIds] })?.message;
  }

  /** Not even its former record is used: the node may have lost what it declares there. */
  function refuse(nodeId: NodeId, excess: string): void {
    refused.set(nodeId, true);
    remove(nodeId);
    if (clock.now() < refusalQuietUntil) return;
    refusalQuietUntil = clock.now() + settings.presenceMs;
    log.warn({ node_id: nodeId, refused: refused.size, excess }, 'nodes of other instances are not used');
  }

  function remove(nodeId: NodeId): void {
    const record = known.get(nodeId)?.record;
    if (record === undefined) return;
    known.delete(nodeId);
    budget.drop(nodeId);
    events.removed(record);
  }

  function removeNodesOf(instanceId: string): void {
    for (const [nodeId, { record }] of known) {
      if (record.holder.instanceId !== instanceId || record.channel !== 'socket') continue;
      dead.note(record.holder);
      remove(nodeId);
    }
  }

  async function subscribeOnce(): Promise<void> {
    if (unsubscribe !== undefined) return;
    try {
      unsubscribe = await nodeRecords.subscribe(receiveNotices);
    } catch (fault) {
      // Without notices the pass over all records finds changes later.
      unreachable(fault);
    }
  }

  const isUnread = (nodeId: NodeId): boolean =>
    !known.has(nodeId) && own.get(nodeId) === undefined && !refused.has(nodeId);

  /** Continues the pass over all listed ids, and reads unknown ones. */
  async function readPages(mostPages: number, mostIds: number): Promise<void> {
    let left = mostIds;
    for (let pages = 0; pages < mostPages && left > 0 && !isStopped; pages += 1) {
      const page = await nodeRecords.page(cursor, Math.min(MAX_PER_READ, left));
      cursor = page.cursor;
      left -= page.nodeIds.length;
      if (!page.isWhole) unreachable();
      await readRecords(page.nodeIds.filter(isUnread));
      if (cursor === undefined) return;
    }
  }

  async function readDue(): Promise<void> {
    const now = clock.now();
    const due: NodeId[] = [];
    for (const [nodeId, { nextReadAt }] of known) {
      if (due.length === settings.readsPerTick) break;
      if (nextReadAt <= now) due.push(nodeId);
    }
    for (let at = 0; at < due.length; at += MAX_PER_READ) await readRecords(due.slice(at, at + MAX_PER_READ));
  }

  async function tick(): Promise<void> {
    try {
      await subscribeOnce();
      await own.publishPending();
      await readPages(MAX_PAGES_PER_TICK, settings.readsPerTick);
      await readDue();
    } catch (fault) {
      unreachable(fault);
    }
    if (!isStopped) cancel = clock.after(settings.tickMs, () => void tick());
  }

  return {
    async start() {
      holdOff();
      await subscribeOnce();
      try {
        const pages = Math.ceil(settings.maxNodes / MAX_PER_READ) + MAX_PAGES_PER_TICK;
        await readPages(pages, settings.maxNodes);
      } catch (fault) {
        unreachable(fault);
      }
      if (!isStopped) cancel = clock.after(settings.tickMs, () => void tick());
    },

    keep(node) {
      const elsewhere = known.get(node.nodeId);
      if (elsewhere !== undefined && elsewhere.record.generation > node.generation) return false;
      known.delete(node.nodeId);
      budget.drop(node.nodeId);
      own.keep(node);
      return true;
    },

    beat: own.beat,

    drop(nodeId, generation) {
      own.drop(nodeId, generation);
      return !known.has(nodeId) && own.get(nodeId) === undefined;
    },

    find: (nodeId) => known.get(nodeId)?.record,
    all: () => [...known.values()].map(({ record }) => record),
    removeNodesOf,
    seen: dead.seen,
    republish() {
      holdOff();
      own.publishAgain();
    },
    stats: () => ({ known: known.size, own: own.size, refused: refused.size, isHoldingOff: isHoldingOff() }),

    async stop() {
      isStopped = true;
      cancel?.();
      await unsubscribe?.().catch(() => undefined);
      await own.leave();
    },
  };
}
