/**
 * Port: who holds which slot of which node. The last word on capacity, for all instances.
 *
 * The law: live leases on a node never exceed its slots as of the reserve (I1); a lease ends by release or by
 * its expiry, never by being forgotten (I2). `used` = max(live leases, reported running − leases that were held at
 * that report and released since): a lease taken later cannot be among the jobs the node counted. Time is the ledger's own, not the caller's. Every call may be repeated with the same effect.
 * A thrown error means *unknown*: the call may have taken effect.
 */
import type { NodeId } from '../domain/ids.ts';
import type { LeaseId, Load } from '../domain/lease.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';

export type ReserveResult =
  | ({ readonly kind: 'reserved' | 'already' | 'full' } & Load)
  | { readonly kind: 'not_ready' | 'unknown_node' };

/** A commit that lay on its way may come when its job has long been over: nobody hears its answer, and nobody would give the slot back. */
export const RETAKEN_MS = 5_000;

export type CommitResult =
  /**
   * `committed`: lengthened. `retaken`: it had expired and a slot was still free; it has that for `RETAKEN_MS` at most, and once it is
   * committed again for as long as it asks. `lost`: expired and other leases hold every slot.
   */
  ({ readonly kind: 'committed' | 'retaken' | 'lost' } & Load) | { readonly kind: 'unknown_node' };

/** In milliseconds. `isKept`: somebody else makes this lease last. */
export type CommitDelay = (nodeId: NodeId, isKept?: boolean) => number;

/** On every instance there is, as last seen. */
export type LastsWhenFetched = () => boolean;

export type ReleaseResult =
  | ({ readonly kind: 'released' | 'absent' } & Load)
  | { readonly kind: 'unknown_node' };

export interface NodeCapacity {
  readonly slots: number;
  /** Not accepting: reserve answers `not_ready`; leases already held live on. */
  readonly isAccepting: boolean;
  /**
   * Generation of the connection on whose behalf this is said; absent: nobody's in particular. Who lost the node to a newer one
   * may not know it yet, and must not shut it.
   */
  readonly claim?: number | undefined;
}

export interface LoadReport {
  readonly running: number;
  /** Generation of the connection it came by; absent: of none. What an older one than the node is known under heard late says nothing. */
  readonly claim?: number | undefined;
  /** When given, a fenced lease whose job is not named is proven gone and released; so is one that the node has taken. */
  readonly runningJobIds?: readonly string[];
  /**
   * How old it may be: what was fenced since then may have reached the node after this was written, and is not proven gone by it.
   * Absent: no job overtakes it.
   */
  readonly ageMs?: number;
  /**
   * What a node has had for so long, it had when it wrote this: if its job is not named, it is over there, and nobody gave it back or
   * the store has lost that. A node has what was committed. Absent: nobody can say.
   */
  readonly takenMs?: number | undefined;
}

export interface CapacityLedger {
  /** Makes a node known, or changes its slots; of an older claim than the node is known under, nothing. Fewer slots than leases is allowed: nothing new fits until they end. */
  declare(nodeId: NodeId, capacity: NodeCapacity): Promise<Load>;
  /**
   * Takes one slot for `lease`, for `ttlMs`. The same lease never takes two; asked for again it lasts as long as a new one would: the
   * answer to the first time may be lost, and then it was had long before its job is sent.
   */
  reserve(nodeId: NodeId, lease: LeaseId, ttlMs: number): MaybePromise<ReserveResult>;
  /**
   * How long a commit of a young lease may wait, because a job that ends meanwhile needs none. Far less than any lease lasts, unless
   * whoever holds the node, or heard of the job, keeps its slots meanwhile. Absent: commits cost too little to wait for anything.
   */
  readonly commitDelayMs?: CommitDelay;
  /**
   * Whoever hands a job out from a mailbox makes the lease last that it names (ports/node-mailbox.ts): no commit is needed. Absent: nobody
   * does, or commits cost too little to be spared.
   */
  readonly lastsWhenFetched?: LastsWhenFetched;
  /** The attempt is on its way: its lease now lasts `ttlMs` from here. */
  commit(nodeId: NodeId, lease: LeaseId, ttlMs: number): MaybePromise<CommitResult>;
  release(nodeId: NodeId, lease: LeaseId): MaybePromise<ReleaseResult>;
  /** The attempt was given up but may still run: the lease stays until released, proven gone, or expired. */
  fence(nodeId: NodeId, lease: LeaseId): Promise<void>;
  /** A heartbeat's view of the node's load. */
  reconcile(nodeId: NodeId, report: LoadReport): Promise<Load | undefined>;
  /** The present load of many nodes; unknown nodes are left out. */
  loads(nodeIds: readonly NodeId[]): Promise<ReadonlyMap<NodeId, Load>>;
  /** Removes the node and its leases. */
  forget(nodeId: NodeId): Promise<void>;
}
