/** What the job engine offers to the rest of the program. */

import type { DispatchOutcome, DispatchRequest } from '../domain/dispatch.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { JobId, NodeId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { AudioAt, JobResult } from '../domain/job-spec.ts';
import type { LeaseId } from '../domain/lease.ts';
import type {
  CancelOutcome,
  EarlyText,
  HandOver,
  ReportedAttempt,
  ReportedFailure,
  ReportResult,
} from '../domain/node-report.ts';
import type { ReplaySnapshot } from '../domain/replay-snapshot.ts';
import type { MaybePromise } from '../domain/with-timeout.ts';
import type { PlacingResult } from './takeover/job-drivers.ts';

export interface JobService {
  /** Synchronous if every port is. Never throws: a fault rejects. */
  dispatch(request: DispatchRequest): MaybePromise<DispatchOutcome>;
  /** The holder of a legacy node handed the job to it. */
  dispatched(report: ReportedAttempt, handOver: HandOver): Promise<ReportResult>;
  /** The holder of the node could not hand the job over: the node does not have it and never will. */
  undeliverable(report: ReportedAttempt, reason: string): Promise<ReportResult>;
  acknowledge(report: ReportedAttempt): Promise<ReportResult>;
  /** Texts that are final before the job is done. They change nothing in the record. */
  tell(report: ReportedAttempt, text: EarlyText): Promise<ReportResult>;
  finish(report: ReportedAttempt, result: JobResult): Promise<ReportResult>;
  fail(report: ReportedAttempt, failure: ReportedFailure): Promise<ReportResult>;
  /** `code`: the failure of the job; JOB_CANCELLED by default. */
  cancel(jobId: JobId, reason: string, code?: ErrorCode): Promise<CancelOutcome>;
  /** The node's connection ended: after the grace all its jobs are retried at once. */
  nodeLeft(nodeId: NodeId, graceMs: number): void;
  /**
   * The node reconnected: jobs it does not name are retried, the others go on. With a generation: jobs that were written to that
   * connection or a later one are kept, because the node could not name them yet.
   */
  nodeReturned(nodeId: NodeId, runningJobIds: readonly string[] | undefined, generation?: number): void;
  /** Resolves when no job is in flight, or after the limit, with the number of jobs left. */
  drain(limitMs: number): Promise<number>;
}

/** What the engine offers in addition to instances that share a store. */
export interface SharedDriving {
  /** The job is in flight here. */
  drives(jobId: JobId): boolean;
  /** The job is in flight here, being admitted or being withdrawn: its record has a driver. */
  isHandling(jobId: JobId): boolean;
  /** The result of the first request for the job, as soon as it is known. `undefined`: the job is not in flight here. */
  placingResult(jobId: JobId): Promise<PlacingResult | undefined>;
  /**
   * A client waits for the job without result. Resumes the job if its driver is dead: a failover can lose an outcome after the
   * driver removed the job from its index, and then the takeover of that driver does not find the job.
   */
  claimIfOrphaned(job: JobRecord): void;
  /** Resumes a job that another instance drove, from its record alone. Safe to repeat. */
  resume(job: JobRecord): void;
  /** The audio of a job in flight is available again: here, or at the given address. */
  audioReturned(jobId: JobId, at?: AudioAt): void;
  /** Drops every job without sending or writing anything, because other instances drive them now. */
  dropAll(): void;
  /** What is written again after a failover. With `jobIds`: only these jobs, and no recent writes. */
  snapshotForReplay(jobIds?: readonly JobId[]): ReplaySnapshot;
  /** Releases a lease that this instance released before a failover. Never rejects: a failed call is repeated. */
  releaseAgain(nodeId: NodeId, lease: LeaseId): MaybePromise<void>;
}
