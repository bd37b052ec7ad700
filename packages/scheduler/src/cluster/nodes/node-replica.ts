/**
 * Background actor: what this instance knows of the nodes of all others, and what all others know of its own.
 *
 * Notices say where to look; a round over everything, a bounded part per tick, makes up for those that were lost. Silence
 * removes a node only if it proves something: after a start, and after the store could not be asked, nothing is removed
 * for one life of a node's presence, and a node the store has lost all trace of is kept for as long.
 */
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
  /** How late a lost notice is made up for, as long as a round takes no longer. */
  readonly verifyMs: number;
  /** The longest life of a node's presence without a heartbeat. */
  readonly presenceMs: number;
  /** How often own ids are enlisted: well below the time after which the board forgets them. */
  readonly enlistMs: number;
  /** Nodes of others; more are not taken, and counted. */
  readonly maxNodes: number;
  /** Node records looked at, and ids paged over, per tick. */
  readonly readsPerTick: number;
}

export interface ReplicaEvents {
  /** A node of another instance is new or changed. `before`: as it was known so far. */
  changed(record: NodeRecord, before: NodeRecord | undefined): void;
  beat(nodeId: NodeId, at: number): void;
  /** Gone, or nobody knows how to reach it. */
  removed(record: NodeRecord): void;
  /** A node that was held here is held elsewhere since: its connection here is an old one. May be said more than once. */
  overtaken(nodeId: NodeId, generation: number): void;
}

export interface NodeReplica {
  /** Resolves when the board was read once, or could not be. Until then others' nodes come in one by one. */
  start(): Promise<void>;
  /** Registered or changed here. False: a newer connection lives elsewhere, and selection keeps that one's view. */
  keep(node: OwnNode): boolean;
  /** A heartbeat of a node that is held here. */
  beat(nodeId: NodeId, at: number): void;
  /** Gone from here. False: it lives elsewhere, and selection keeps that one's view. */
  drop(nodeId: NodeId, generation: number): boolean;
  /** A node of another instance: who holds it and how it gets its jobs. */
  find(nodeId: NodeId): NodeRecord | undefined;
  /** Those of all other instances. */
  all(): Iterable<NodeRecord>;
  /** An instance is dead: its sockets are gone, and nobody else reaches the nodes on them until they connect anew. */
  disown(instanceId: string): void;
  /** These live, whatever was thought of them: a store that fails over may forget that it declared one dead. */
  seen(living: ReadonlyMap<string, InstanceName>): void;
  /** The store was away, or its master changed: nothing is removed for a while, and own nodes are told to it again. */
  reassert(): void;
  stats(): Readonly<{ known: number; own: number; refused: number; isFrozen: boolean }>;
  /** Takes own nodes off whose sockets end with this instance. */
  stop(): Promise<void>;
}

const MOST_PER_READ = 128;
const MOST_READS_AT_ONCE = 8;
const MOST_PAGES_PER_TICK = 16;
const MOST_WANTED = 10_000;

export function createNodeReplica(deps: {
  board: NodeRecords;
  clock: Clock;
  chance: Chance;
  log: Log;
  self: () => InstanceName;
  isFenced: () => boolean;
  settings: ReplicaSettings;
  events: ReplicaEvents;
}): NodeReplica {
  const { board, clock, log, settings, events } = deps;
  /** Whoever was looked at last is at the end. */
  const known = new Map<NodeId, KnownNode>();
  /** Told of by notices and not yet looked at. */
  const wanted = new Set<NodeId>();
  /** Being looked at. One look per node at a time, so that no late answer undoes a later one. */
  const asking = new Set<NodeId>();
  const dead = createDeadHolders();
  const own = createOwnNodePublisher({
    ...deps,
    enlistMs: settings.enlistMs,
    onFault: unreachable,
    overtaken(nodeId, generation) {
      events.overtaken(nodeId, generation);
      want([nodeId]);
    },
  });
  let reads = 0;
  let refused = 0;
  let frozenUntil = clock.now() + settings.presenceMs;
  /** One line in the log per outage, not one per question. */
  let quietUntil = 0;
  let cursor: string | undefined;
  let unsubscribe: (() => Promise<void>) | undefined;
  let cancel: Cancel | undefined;
  let isStopped = false;

  const isFrozen = (): boolean => clock.now() < frozenUntil;

  function freeze(): void {
    frozenUntil = clock.now() + settings.presenceMs;
  }

  function unreachable(fault?: unknown): void {
    freeze();
    if (clock.now() < quietUntil) return;
    quietUntil = clock.now() + settings.presenceMs;
    log.warn({ err: fault }, 'the board of nodes could not be asked; no node is taken for gone');
  }

  function hear(notices: readonly RecordVersion[]): void {
    want(notices.filter(isNews).map(({ nodeId }) => nodeId));
  }

  function isNews(notice: RecordVersion): boolean {
    const mine = own.get(notice.nodeId);
    if (mine !== undefined) return notice.generation > mine.generation;
    const node = known.get(notice.nodeId);
    return node === undefined || isLater(notice, node.record);
  }

  function want(nodeIds: readonly NodeId[]): void {
    for (const nodeId of nodeIds) if (wanted.size < MOST_WANTED) wanted.add(nodeId);
    pump();
  }

  function pump(): void {
    while (!isStopped && reads < MOST_READS_AT_ONCE) {
      const some: NodeId[] = [];
      for (const nodeId of wanted) {
        if (some.length === MOST_PER_READ) break;
        if (!asking.has(nodeId)) some.push(nodeId);
      }
      if (some.length === 0) return;
      for (const nodeId of some) wanted.delete(nodeId);
      void look(some);
    }
  }

  /** Never rejects. Asks for none of them that somebody else asks for already. */
  async function look(nodeIds: readonly NodeId[]): Promise<void> {
    const free = nodeIds.filter((nodeId) => !asking.has(nodeId));
    if (free.length === 0) return;
    for (const nodeId of free) asking.add(nodeId);
    reads += 1;
    try {
      const standings = await board.read(free.map((nodeId) => known.get(nodeId)?.record ?? { nodeId }));
      if (!isStopped) for (const [nodeId, status] of standings) learn(nodeId, status);
    } catch (fault) {
      unreachable(fault);
    } finally {
      reads -= 1;
      for (const nodeId of free) asking.delete(nodeId);
      pump();
    }
  }

  function learn(nodeId: NodeId, status: RecordStatus): void {
    if (status.kind === 'unknown') unreachable();
    const mine = own.get(nodeId);
    if (mine !== undefined) {
      if (status.kind !== 'present' || status.generation <= mine.generation) return;
      own.yieldTo(nodeId, status.generation);
    }
    const verdict = judgeNodeRecord(known.get(nodeId), status, {
      now: clock.now(),
      isFrozen: isFrozen(),
      patienceMs: settings.presenceMs,
      verifyMs: settings.verifyMs,
      retryMs: settings.tickMs,
    });
    if (verdict.kind === 'ignore' || (verdict.kind === 'take' && dead.held(verdict.node.record))) return;
    if (verdict.kind === 'take' && !known.has(nodeId) && known.size >= settings.maxNodes) {
      refused += 1;
      return;
    }
    const before = known.get(nodeId)?.record;
    known.delete(nodeId);
    if (verdict.kind !== 'remove') known.set(nodeId, verdict.node);
    else if (before !== undefined) events.removed(before);
    if (verdict.kind === 'take') events.changed(verdict.node.record, before);
    if (verdict.kind === 'seen') events.beat(nodeId, verdict.seenAt);
  }

  function disown(instanceId: string): void {
    for (const [nodeId, { record }] of known) {
      if (record.holder.instanceId !== instanceId || record.channel !== 'socket') continue;
      dead.note(record.holder);
      known.delete(nodeId);
      events.removed(record);
    }
  }

  async function listen(): Promise<void> {
    if (unsubscribe !== undefined) return;
    try {
      unsubscribe = await board.subscribe(hear);
    } catch (fault) {
      // Deaf for now: rounds find everything, later.
      unreachable(fault);
    }
  }

  /** Goes on with the round over all listed ids; whoever is not known yet is looked at. */
  async function turnPages(mostPages: number, mostIds: number): Promise<void> {
    let left = mostIds;
    for (let pages = 0; pages < mostPages && left > 0 && !isStopped; pages += 1) {
      const page = await board.page(cursor, Math.min(MOST_PER_READ, left));
      cursor = page.cursor;
      left -= page.nodeIds.length;
      if (!page.isWhole) unreachable();
      await look(page.nodeIds.filter((nodeId) => !known.has(nodeId) && own.get(nodeId) === undefined));
      if (cursor === undefined) return;
    }
  }

  async function lookAtDue(): Promise<void> {
    const now = clock.now();
    const due: NodeId[] = [];
    for (const [nodeId, { lookAt }] of known) {
      if (due.length === settings.readsPerTick) break;
      if (lookAt <= now) due.push(nodeId);
    }
    for (let at = 0; at < due.length; at += MOST_PER_READ) await look(due.slice(at, at + MOST_PER_READ));
  }

  async function tick(): Promise<void> {
    try {
      await listen();
      await own.round();
      await turnPages(MOST_PAGES_PER_TICK, settings.readsPerTick);
      await lookAtDue();
    } catch (fault) {
      unreachable(fault);
    }
    if (!isStopped) cancel = clock.after(settings.tickMs, () => void tick());
  }

  return {
    async start() {
      freeze();
      await listen();
      try {
        const pages = Math.ceil(settings.maxNodes / MOST_PER_READ) + MOST_PAGES_PER_TICK;
        await turnPages(pages, settings.maxNodes);
      } catch (fault) {
        unreachable(fault);
      }
      if (!isStopped) cancel = clock.after(settings.tickMs, () => void tick());
    },

    keep(node) {
      const elsewhere = known.get(node.nodeId);
      if (elsewhere !== undefined && elsewhere.record.generation > node.generation) return false;
      known.delete(node.nodeId);
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
    disown,
    seen: dead.seen,
    reassert() {
      freeze();
      own.tellAgain();
    },
    stats: () => ({ known: known.size, own: own.size, refused, isFrozen: isFrozen() }),

    async stop() {
      isStopped = true;
      cancel?.();
      await unsubscribe?.().catch(() => undefined);
      await own.leave();
    },
  };
}
