/** What an instance writes again after a failover of Redis: plain values, as of the call that returned them. */
import type { NodeId } from './ids.ts';
import type { Attempt, JobRecord } from './job.ts';
import type { LeaseId } from './lease.ts';

/** The lease of the attempt that holds the fence of a job, or of its intent. */
export interface HeldLease extends Attempt {
  readonly lease: LeaseId;
  /** How long the lease is still needed; 0: the attempt was not sent, so its slot may never have been taken. */
  readonly leftMs: number;
  /** The record says that the job was handed over, so reports of the node can prove the lease gone. */
  readonly isHandedOver: boolean;
  /** The node has ended the attempt. The lease may be released before the outcome is written. */
  readonly isReleased: boolean;
  /** The driver has abandoned the attempt and no other one was sent yet. */
  readonly isAbandoned: boolean;
}

export interface InFlightSnapshot {
  /** The record as this instance last wrote it: without a DISPATCHED that is written with the job's next move. */
  readonly record: JobRecord;
  readonly leases: readonly HeldLease[];
}

/** A lease that this instance released or abandoned recently. */
export interface RecentLease {
  readonly nodeId: NodeId;
  readonly lease: LeaseId;
  /** When an abandoned lease ends at the latest. */
  readonly endsAt: number | undefined;
}

export interface ReplaySnapshot {
  readonly inFlight: readonly InFlightSnapshot[];
  /** Recently settled jobs, oldest first. */
  readonly settled: readonly JobRecord[];
  readonly released: readonly RecentLease[];
  readonly abandoned: readonly RecentLease[];
}
