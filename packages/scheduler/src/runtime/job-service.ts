/** Hot path: what the rest of the program may ask of the job engine. */

import type { DispatchOutcome, DispatchRequest } from '../domain/dispatch.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { JobId, NodeId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { AudioAt, JobResult } from '../domain/job-spec.ts';
import type { LeaseId } from '../domain/lease.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';
import type {
  CancelOutcome,
  HandOver,
  ReportedAttempt,
  ReportedFailure,
  ReportResult,
} from '../domain/node-report.ts';
import type { PlacingResult } from './takeover/job-drivers.ts';
import type { RecentLease } from './takeover/recently-released.ts';

export interface JobService {
  /** At once, if every port answers at once. Never throws: a fault rejects. */
  dispatch(request: DispatchRequest): MaybePromise<DispatchOutcome>;
  /** The holder of a legacy node handed the job to it. */
  dispatched(report: ReportedAttempt, handOver: HandOver): Promise<ReportResult>;
  /** The holder of the node could not hand the job over: the node does not have it and never will. */
  undeliverable(report: ReportedAttempt, reason: string): Promise<ReportResult>;
  acknowledge(report: ReportedAttempt): Promise<ReportResult>;
  finish(report: ReportedAttempt, result: JobResult): Promise<ReportResult>;
  fail(report: ReportedAttempt, failure: ReportedFailure): Promise<ReportResult>;
  /** `code`: what the job then failed with; JOB_CANCELLED unless told. */
  cancel(jobId: JobId, reason: string, code?: ErrorCode): Promise<CancelOutcome>;
  /** The node's connection ended: after the grace all its jobs are retried at once. */
  nodeLeft(nodeId: NodeId, graceMs: number): void;
  /**
   * It is back: jobs it no longer names are retried, the others go on. With a generation: jobs that were written to that connection,
   * or a later one, are none of those it could have named.
   */
  nodeReturned(nodeId: NodeId, runningJobIds: readonly string[] | undefined, generation?: number): void;
  /** Resolves when no job is in flight, or after the limit; answers how many were left. */
  drain(limitMs: number): Promise<number>;
}

/** What instances that share a store need of the engine besides. */
export interface SharedDriving {
  /** It is in flight here. */
  drives(jobId: JobId): boolean;
  /** It is, or is about to be, or is being taken back: whoever finds its record need not wonder. */
  isHandling(jobId: JobId): boolean;
  /** It is in flight, and the slot of that attempt was not given back: that may be before its end is written. */
  holdsSlot(jobId: JobId, attempt: number): boolean;
  /**
   * How long the lease of that attempt is still needed, if the attempt may have been handed to its node; 0: it was not sent, so that its
   * slot may never have been taken.
   */
  leaseLeftMs(jobId: JobId, attempt: number): number;
  /** It is in flight, and that attempt is neither the one that counts nor the one that is being made. */
  isAttemptAbandoned(jobId: JobId, attempt: number): boolean;
  /** What the first request for it came to, as soon as that is known. `undefined`: it is not in flight here. */
  placingResult(jobId: JobId): Promise<PlacingResult | undefined>;
  /**
   * Somebody waits for it and hears nothing. Goes on with it if its driver is gone: a failover can lose how a job stood after
   * its driver had struck it off its list, and whoever adopts that one does not find it.
   */
  claimIfOrphaned(job: JobRecord): void;
  /** Goes on with a job that another instance drove, from its record alone. Safe to repeat. */
  resume(job: JobRecord): void;
  /** The audio of a job in flight can be had again: here, or where it says. */
  audioReturned(jobId: JobId, at?: AudioAt): void;
  /** Forgets every job without a word to anybody, because others drive them by now. */
  dropAll(): void;
  /** Every job in flight as this instance knows it, and those it settled a moment ago: what a store that lost writes must be told again. */
  jobsToTellAgain(): Iterable<JobRecord>;
  /** The record of such a job as this instance last wrote it: without a DISPATCHED that waits for the job's next move. */
  asWritten(job: JobRecord): JobRecord;
  /** Leases that it abandoned a moment ago: a ledger that lost the marks gets them again. */
  leasesToAbandonAgain(): readonly RecentLease[];
  /** Leases that it released a moment ago. */
  leasesToReleaseAgain(): readonly RecentLease[];
  /** Never rejects: a ledger that does not answer is asked until it does. */
  releaseAgain(nodeId: NodeId, lease: LeaseId): MaybePromise<void>;
}
