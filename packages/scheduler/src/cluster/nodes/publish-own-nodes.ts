/**
 * Background actor: publishes the records of this instance's own nodes, and publishes them again after data loss.
 *
 * One write per node at a time; changes during a write are written as one. A heartbeat is one write. A failed write is retried at the
 * node's next heartbeat or the next pass.
 */
import type { NodeId } from '../../domain/ids.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Clock } from '../../ports/clock.ts';
import type { InstanceName } from '../../ports/instances.ts';
import {
  type NodeRecord,
  type NodeRecords,
  type Stale,
  WITHDRAWN_VERSION,
} from '../../ports/node-records.ts';

/** A node that this instance holds. */
export type OwnNode = Omit<NodeRecord, 'version' | 'holder'>;

export interface OwnNodePublisher {
  readonly size: number;
  get(nodeId: NodeId): OwnNode | undefined;
  keep(node: OwnNode): void;
  beat(nodeId: NodeId, at: number): void;
  /** False: this generation is not here. */
  drop(nodeId: NodeId, generation: number): boolean;
  /** Another instance holds a newer generation: this one is not published any more. */
  yieldTo(nodeId: NodeId, generation: number): void;
  /** The store may have lost some records. */
  publishAgain(): void;
  /** Retries failed writes, and keeps the ids listed. Bounded. */
  publishPending(): Promise<void>;
  /** Withdraws the nodes on sockets, which no other instance can reach. */
  leave(): Promise<void>;
}

interface Own {
  node: OwnNode;
  version: number;
  isDirty: boolean;
  /** A heartbeat to be written. */
  beatAt: number | undefined;
  isWriting: boolean;
  listedAt: number;
  /** The incarnation in the published record. */
  incarnation: string | undefined;
}

const PRESENT_FOR_BEATS = 3;
/** Nodes that joined together do not expire together. */
const JITTER = 0.2;
const MAX_PER_PASS = 512;

/** The longest TTL of a record with this heartbeat interval. */
export const longestPresenceMs = (intervalMs: number): number =>
  Math.ceil(PRESENT_FOR_BEATS * intervalMs * (1 + JITTER));

export function createOwnNodePublisher(deps: {
  nodeRecords: NodeRecords;
  clock: Clock;
  chance: Chance;
  self: () => InstanceName;
  /** A fenced instance may have been declared dead: it writes nothing. */
  isFenced: () => boolean;
  enlistMs: number;
  onFault: (fault: unknown) => void;
  overtaken: (nodeId: NodeId, generation: number) => void;
}): OwnNodePublisher {
  const { nodeRecords, clock, chance, self } = deps;
  const owned = new Map<NodeId, Own>();

  const isOurs = (own: Own): boolean => owned.get(own.node.nodeId) === own;

  const ttlOf = ({ intervalMs }: OwnNode): number =>
    Math.round(PRESENT_FOR_BEATS * intervalMs * (1 - JITTER + 2 * JITTER * chance()));

  /** Higher than the previous version, and than any of an earlier holder of the same generation. */
  function renumber(own: Own, atLeast = 0): void {
    own.version = Math.max(own.version + 1, atLeast, clock.now());
    own.isDirty = true;
  }

  async function write(own: Own): Promise<void> {
    if (own.isWriting) return;
    own.isWriting = true;
    try {
      while (isOurs(own) && !deps.isFenced() && (own.isDirty || own.beatAt !== undefined)) {
        await (own.isDirty ? post(own) : renew(own, own.beatAt ?? clock.now()));
      }
    } catch (fault) {
      deps.onFault(fault);
    } finally {
      own.isWriting = false;
    }
  }

  async function post(own: Own): Promise<void> {
    const holder = self();
    own.isDirty = false;
    own.beatAt = undefined;
    own.incarnation = holder.incarnation;
    try {
      const result = await nodeRecords.post({ ...own.node, version: own.version, holder }, ttlOf(own.node));
      if (result.kind === 'stale') yieldOrRenumber(own, result);
    } catch (fault) {
      own.isDirty = true;
      throw fault;
    }
  }

  async function renew(own: Own, at: number): Promise<void> {
    const { nodeId, generation } = own.node;
    own.beatAt = undefined;
    const result = await nodeRecords.seen({ nodeId, generation, version: own.version }, ttlOf(own.node), at);
    if (result.kind === 'stale') yieldOrRenumber(own, result);
    // The store was emptied or has lost a write.
    if (result.kind === 'missing') own.isDirty = true;
  }

  function yieldOrRenumber(own: Own, { generation, version }: Stale): void {
    // The node may have connected here again during the call: then that connection is newer.
    if (!isOurs(own)) return;
    const { nodeId } = own.node;
    if (generation === own.node.generation && version < WITHDRAWN_VERSION) renumber(own, version + 1);
    else yieldTo(nodeId, generation);
  }

  function yieldTo(nodeId: NodeId, generation: number): void {
    if (owned.delete(nodeId)) deps.overtaken(nodeId, generation);
  }

  async function withdraw({ nodeId, generation }: OwnNode): Promise<void> {
    if (deps.isFenced()) return;
    try {
      const result = await nodeRecords.withdraw(nodeId, generation);
      const here = owned.get(nodeId)?.node.generation ?? 0;
      if (result.kind === 'stale' && here < result.generation) deps.overtaken(nodeId, result.generation);
    } catch (fault) {
      // The record expires.
      deps.onFault(fault);
    }
  }

  async function enlist(): Promise<void> {
    const now = clock.now();
    const due = some(owned.values(), (own) => now - own.listedAt >= deps.enlistMs);
    if (due.length === 0) return;
    // Set before the call, so that `publishAgain` during the call is not overwritten.
    for (const own of due) own.listedAt = now;
    try {
      await nodeRecords.enlist(due.map(({ node }) => node.nodeId));
    } catch (fault) {
      for (const own of due) own.listedAt = 0;
      throw fault;
    }
  }

  return {
    get size() {
      return owned.size;
    },
    get: (nodeId) => owned.get(nodeId)?.node,

    keep(node) {
      const before = owned.get(node.nodeId);
      if (before !== undefined && before.node.generation > node.generation) return;
      const own: Own =
        before?.node.generation === node.generation
          ? before
          : {
              node,
              version: 0,
              isDirty: true,
              beatAt: undefined,
              isWriting: false,
              listedAt: clock.now(),
              incarnation: undefined,
            };
      // The running jobs that the node reported when it connected stay valid for this connection.
      const runningJobIds = node.runningJobIds ?? before?.node.runningJobIds;
      const isSame = before?.node.generation === node.generation;
      own.node = isSame && runningJobIds !== undefined ? { ...node, runningJobIds } : node;
      owned.set(node.nodeId, own);
      renumber(own);
      void write(own);
    },

    beat(nodeId, at) {
      const own = owned.get(nodeId);
      if (own === undefined) return;
      if (own.incarnation !== undefined && own.incarnation !== self().incarnation) renumber(own);
      // The change that is being written renews the TTL, too.
      if (own.isWriting) return;
      own.beatAt = at;
      void write(own);
    },

    drop(nodeId, generation) {
      const own = owned.get(nodeId);
      if (own?.node.generation !== generation) return false;
      owned.delete(nodeId);
      void withdraw(own.node);
      return true;
    },

    yieldTo,

    publishAgain() {
      for (const own of owned.values()) {
        own.isDirty = true;
        own.listedAt = 0;
      }
    },

    async publishPending() {
      if (deps.isFenced()) return;
      const pending = some(owned.values(), (own) => own.isDirty && !own.isWriting);
      await Promise.all(pending.map(write));
      try {
        await enlist();
      } catch (fault) {
        deps.onFault(fault);
      }
    },

    async leave() {
      const nodes = [...owned.values()].map(({ node }) => node).filter(({ channel }) => channel === 'socket');
      owned.clear();
      for (let from = 0; from < nodes.length; from += MAX_PER_PASS) {
        await Promise.all(nodes.slice(from, from + MAX_PER_PASS).map(withdraw));
      }
    },
  };
}

function some(all: Iterable<Own>, isMeant: (own: Own) => boolean): Own[] {
  const found: Own[] = [];
  for (const own of all) {
    if (found.length === MAX_PER_PASS) break;
    if (isMeant(own)) found.push(own);
  }
  return found;
}
