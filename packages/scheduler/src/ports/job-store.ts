/**
 * Port: job records and the binding of request ids to them.
 *
 * The law: a (tenant, request_id) has at most one live job (I3); a record moves only by compare-and-set on its state and
 * fence, so a late report changes nothing (I4); a refused request is not bound; a FAILED job unbinds its request;
 * a FINISHED one stays bound for the lease, so that a late repeat gets the same job. The store compares and sets; the state table
 * (domain/job.ts) defines which moves are allowed. Returned records must not be changed by the caller. A thrown
 * error means *unknown*: the call may have taken effect, and every call may be repeated.
 * Settled records are kept for a time and bounded by count and bytes: the oldest are dropped first. An erased record contains nothing that
 * people said, and is kept only while its request is bound to it.
 */
import type { JobId, TenantId } from '../domain/ids.ts';
import type { JobRecord, JobState } from '../domain/job.ts';
import type { JobChange } from '../domain/job-change.ts';
import type { JobFilter } from '../domain/job-query.ts';
import type { MaybePromise } from '../domain/with-timeout.ts';

export type { JobChange };

export type AdmitResult =
  | { readonly kind: 'admitted'; readonly job: JobRecord }
  /** The request is already bound: this is its job. */
  | { readonly kind: 'existing'; readonly job: JobRecord }
  /** Bound, but with another fingerprint. */
  | { readonly kind: 'conflict'; readonly job: JobRecord }
  /** At the limit, and no settled record can be dropped. */
  /** `limit`: the tenant has its part; absent: the instance has no room. */
  | { readonly kind: 'full'; readonly limit?: 'tenant' };

/** The change happens only if the record is still in this state. */
export interface Expected {
  readonly state: JobState;
  /** 0: no attempt was dispatched yet. */
  readonly fenceAttempt: number;
}

export type MoveResult =
  | { readonly kind: 'moved'; readonly job: JobRecord }
  | { readonly kind: 'stale'; readonly job: JobRecord }
  | { readonly kind: 'unknown_job' }
  /** Another instance, or another incarnation of this one, drives the job: nothing was changed. */
  | { readonly kind: 'driven_elsewhere' };

export interface JobPage {
  readonly jobs: readonly JobRecord[];
  readonly cursor?: string;
}

export interface JobQuery extends JobFilter {
  readonly limit: number;
  readonly cursor?: string;
}

export interface JobStore {
  /** Writes the record and its binding, or returns the job that the request already has. */
  admit(draft: JobRecord): MaybePromise<AdmitResult>;
  /** Changes the record if it is as expected. Only the job's driver may call it. */
  move(jobId: JobId, expected: Expected, change: JobChange): MaybePromise<MoveResult>;
  /**
   * Writes the record of a job that is driven here, if the stored one was lost or is an earlier state; otherwise that one is kept.
   * `driven_elsewhere`: another instance drives it. Only for records that this store returned. Absent: the store loses nothing.
   */
  restore?(job: JobRecord): Promise<'restored' | 'kept' | 'driven_elsewhere'>;
  /**
   * Removes an admitted record that was never dispatched, with its binding. `discarded`: no record is left.
   * `kept`: the job was dispatched, or is settled. `driven_elsewhere`: another instance drives it.
   */
  discard(jobId: JobId): Promise<'discarded' | 'kept' | 'driven_elsewhere'>;
  /** Removes what people said from a settled record (domain/erased-job.ts), and the record itself if no request is bound to it. */
  erase(jobId: JobId): Promise<'erased' | 'not_settled' | 'unknown_job'>;
  get(jobId: JobId): Promise<JobRecord | undefined>;
  /** The job a request id is bound to. */
  bound(tenantId: TenantId, requestId: string): Promise<JobRecord | undefined>;
  /** Newest first. */
  list(query: JobQuery): Promise<JobPage>;
}
