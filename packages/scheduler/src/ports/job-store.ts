/**
 * Port: job records and the binding of request ids to them.
 *
 * The law: a (tenant, request_id) has at most one live job (I3); a record moves only by compare-and-set on its state and
 * fence, so a late answer changes nothing (I4); a refusal leaves nothing bound; a FAILED job unbinds its request;
 * a FINISHED one stays bound for the lease, so that a late repeat gets the same job. The store compares and sets; which
 * moves are allowed is the state table's business (domain/job.ts). Returned records must not be changed by the caller. A thrown
 * error means *unknown*: the call may have taken effect, and every call may be repeated.
 * Settled records are kept for a time and bounded by count and bytes: oldest go first.
 */
import type { JobId, TenantId } from '../domain/ids.ts';
import type { JobRecord, JobState } from '../domain/job.ts';
import type { JobChange } from '../domain/job-change.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';

export type { JobChange };

export type AdmitResult =
  | { readonly kind: 'admitted'; readonly job: JobRecord }
  /** The request is already bound: this is its job. */
  | { readonly kind: 'existing'; readonly job: JobRecord }
  /** Bound, but with another fingerprint. */
  | { readonly kind: 'conflict'; readonly job: JobRecord }
  /** At the limit, with nothing settled that could make room. */
  | { readonly kind: 'full' };

/** What the record must still be for the change to happen. */
export interface Expected {
  readonly state: JobState;
  /** 0 = nothing dispatched yet. */
  readonly fenceAttempt: number;
}

export type MoveResult =
  | { readonly kind: 'moved'; readonly job: JobRecord }
  | { readonly kind: 'stale'; readonly job: JobRecord }
  | { readonly kind: 'unknown_job' }
  /** Another instance, or another incarnation of this one, drives it: nothing was changed, and it is not ours to move. */
  | { readonly kind: 'driven_elsewhere' };

export interface JobPage {
  readonly jobs: readonly JobRecord[];
  readonly cursor?: string;
}

export interface JobQuery {
  readonly tenantId?: TenantId;
  readonly state?: JobState;
  readonly limit: number;
  readonly cursor?: string;
}

export interface JobStore {
  /** Writes the record and its binding, or says whose the request already is. */
  admit(draft: JobRecord): MaybePromise<AdmitResult>;
  /**
   * `soon`: others may see it a moment later, and a crash before that loses it. If the job was not as expected after all, that is the
   * answer to its next move. Here it is seen at once.
   */
  move(jobId: JobId, expected: Expected, change: JobChange, when?: 'now' | 'soon'): MaybePromise<MoveResult>;
  /**
   * Writes a job that is driven here as `job` says, if its record was lost or is an earlier state of it; one that is as far or further
   * is kept. `driven_elsewhere`: it is not ours to write. Only for records as this store gave them out. Absent: it loses nothing.
   */
  restore?(job: JobRecord): Promise<'restored' | 'kept' | 'driven_elsewhere'>;
  /**
   * Takes back an admitted record that was never dispatched, with its binding. `discarded`: nothing of it is left, or ever was.
   * `kept`: it was dispatched, or is settled. `driven_elsewhere`: it is not ours to take back.
   */
  discard(jobId: JobId): Promise<'discarded' | 'kept' | 'driven_elsewhere'>;
  get(jobId: JobId): Promise<JobRecord | undefined>;
  /** The job a request id is bound to. */
  bound(tenantId: TenantId, requestId: string): Promise<JobRecord | undefined>;
  /** Newest first. */
  list(query: JobQuery): Promise<JobPage>;
}
