/**
 * Port: the leases on the slots of every node. The only authority on capacity, for all instances.
 *
 * The law: the live leases on a node never exceed its slots as of the reserve (I1); a lease ends by release or by its expiry, never by
 * being forgotten (I2). `used` = max(live leases, reported running − leases that were held at that report and released since): the node
 * cannot have counted the job of a lease that was taken later. The ledger uses its own clock, not the caller's. Every call may be repeated
 * with the same effect. A thrown error means *unknown*: the call may have taken effect.
 */
import type { NodeId } from '../domain/ids.ts';
import type { LeaseId, Load } from '../domain/lease.ts';
import type { MaybePromise } from '../domain/with-timeout.ts';

export type ReserveResult =
  | ({ readonly kind: 'reserved' | 'already' | 'full' } & Load)
  | { readonly kind: 'not_ready' | 'unknown_node' };

export type CommitResult =
  /**
   * `committed`: the lease now lasts for the requested time. `absent`: it has ended, or was never taken. `abandoned`: its driver has
   * abandoned the attempt. `full`: a late commit found that other leases hold every slot. Only `committed` changes anything.
   */
  | ({ readonly kind: 'committed' | 'absent' | 'abandoned' | 'full' } & Load)
  | { readonly kind: 'unknown_node' };

export type ReleaseResult =
  | ({ readonly kind: 'released' | 'absent' } & Load)
  | { readonly kind: 'unknown_node' };

export interface NodeCapacity {
  readonly slots: number;
  /** False: `reserve` returns `not_ready`; existing leases stay. */
  readonly isAccepting: boolean;
  /**
   * Generation of the node's connection for which the caller declares this; absent: of no connection. An instance that lost the node to
   * a newer connection may not know it yet, and must not close the node.
   */
  readonly claim?: number | undefined;
}

export interface LoadReport {
  readonly running: number;
  /** Generation of the connection that delivered the report; absent: of none. A report of an older generation than the node's is ignored. */
  readonly claim?: number | undefined;
  /** If present, an abandoned lease whose job is not named is released; so is a committed one, see `takenMs`. */
  readonly runningJobIds?: readonly string[];
  /**
   * The greatest possible age of the report. It proves nothing about a lease that was abandoned since then, because the job may have
   * reached the node after the node wrote the report. Absent: no job overtakes the report.
   */
  readonly ageMs?: number;
  /**
   * The job of a lease that was committed this long ago had reached the node when it wrote the report: if the report does not name the
   * job, the node has finished it, and the release was lost. Absent: unknown.
   */
  readonly takenMs?: number | undefined;
}

export interface CapacityLedger {
  /**
   * Makes a node known, or changes its slots. A claim older than the node's changes nothing. Fewer slots than leases is allowed: no new
   * lease fits until enough of them have ended.
   */
  declare(nodeId: NodeId, capacity: NodeCapacity): Promise<Load>;
  /**
   * Takes one slot for `lease`, for `ttlMs`. The same lease never takes two slots. A repeated reserve extends the lease to `ttlMs` from
   * now, because the first answer may have been lost long before the job is sent.
   */
  reserve(nodeId: NodeId, lease: LeaseId, ttlMs: number): MaybePromise<ReserveResult>;
  /**
   * Called immediately before a job is handed to its node: the lease now lasts for `ttlMs`, and reports of the node can prove that it is
   * over. The caller hands the job over only after the answer `committed`.
   * `isLate`: the attempt was abandoned, and its node acknowledged it afterwards. The mark is removed, and a lease that has ended takes a
   * free slot again.
   */
  commit(nodeId: NodeId, lease: LeaseId, ttlMs: number, isLate?: boolean): MaybePromise<CommitResult>;
  release(nodeId: NodeId, lease: LeaseId): MaybePromise<ReleaseResult>;
  /**
   * The driver abandons the attempt, whose node may still work on it. The lease is marked: it can no longer be committed, and a report of
   * the node that does not name the job ends it. With `endsInMs` the lease expires after that time at the latest.
   */
  abandon(nodeId: NodeId, lease: LeaseId, endsInMs?: number): Promise<void>;
  /** Applies the load that a heartbeat of the node reports. */
  reconcile(nodeId: NodeId, report: LoadReport): Promise<Load | undefined>;
  /** The present load of many nodes; unknown nodes are left out. */
  loads(nodeIds: readonly NodeId[]): Promise<ReadonlyMap<NodeId, Load>>;
  /** Removes the node and its leases. */
  forget(nodeId: NodeId): Promise<void>;
}
