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

export type CommitResult =
  /**
   * `committed`: the lease now lasts as long as it was asked for. `absent`: it ended, or was never taken. `abandoned`: its driver has
   * abandoned the attempt. `full`: a late commit found that other leases hold every slot. Only `committed` changes anything.
   */
  | ({ readonly kind: 'committed' | 'absent' | 'abandoned' | 'full' } & Load)
  | { readonly kind: 'unknown_node' };

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
  /** When given, an abandoned lease whose job is not named is proven gone and released; so is a committed one, see `takenMs`. */
  readonly runningJobIds?: readonly string[];
  /**
   * How old it may be: a lease that was abandoned since then is not proven gone by it, because its job may have reached the node after
   * the node wrote the report. Absent: no job overtakes the report.
   */
  readonly ageMs?: number;
  /**
   * A lease that was committed this long ago had reached the node when it wrote the report: if its job is not named, the node is done with
   * it, and the release was lost. Absent: unknown.
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
   * Right before a job is handed to its node: the lease lasts `ttlMs` from here, and reports of the node can prove it gone. Whoever hands
   * over does so only after the answer `committed`.
   * `isLate`: the attempt was abandoned, and then its node acknowledged it after all. The mark goes, and a lease that has ended takes a
   * free slot again.
   */
  commit(nodeId: NodeId, lease: LeaseId, ttlMs: number, isLate?: boolean): MaybePromise<CommitResult>;
  release(nodeId: NodeId, lease: LeaseId): MaybePromise<ReleaseResult>;
  /**
   * The driver abandons the attempt, whose node may still work on it. The lease is marked: it can no longer be committed, and a report of
   * the node that does not name the job ends it. With `endsInMs` it ends by itself after that time at the latest.
   */
  abandon(nodeId: NodeId, lease: LeaseId, endsInMs?: number): Promise<void>;
  /** A heartbeat's view of the node's load. */
  reconcile(nodeId: NodeId, report: LoadReport): Promise<Load | undefined>;
  /** The present load of many nodes; unknown nodes are left out. */
  loads(nodeIds: readonly NodeId[]): Promise<ReadonlyMap<NodeId, Load>>;
  /** Removes the node and its leases. */
  forget(nodeId: NodeId): Promise<void>;
}
