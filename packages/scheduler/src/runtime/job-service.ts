/** Hot path: what the rest of the program may ask of the job engine. */
import type { DispatchOutcome, DispatchRequest } from '../domain/dispatch.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { JobId, NodeId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { JobResult } from '../domain/job-spec.ts';

/** For answers that may name the wrong attempt: then only (node, job) are compared. */
export const ANY_ATTEMPT = -1;

/** Who answers, for which attempt. */
export interface Answer {
  readonly nodeId: NodeId;
  readonly jobId: JobId;
  readonly attempt: number;
}

export interface ReportedFailure {
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export type AnswerOutcome =
  | { readonly kind: 'accepted'; readonly job: JobRecord }
  /** Changed nothing. `fenced`: another attempt is current; `settled`: the job has its outcome. */
  | { readonly kind: 'ignored'; readonly reason: 'unknown_job' | 'fenced' | 'settled' | 'lease_lost' };

export type CancelOutcome = { readonly kind: 'cancelled' | 'settled' | 'unknown_job' };

export interface JobService {
  dispatch(request: DispatchRequest): Promise<DispatchOutcome>;
  acknowledge(answer: Answer): Promise<AnswerOutcome>;
  finish(answer: Answer, result: JobResult): Promise<AnswerOutcome>;
  fail(answer: Answer, failure: ReportedFailure): Promise<AnswerOutcome>;
  /** `code`: what the job then failed with; JOB_CANCELLED unless told. */
  cancel(jobId: JobId, reason: string, code?: ErrorCode): Promise<CancelOutcome>;
  /** The node's connection ended: after the grace all its jobs are retried at once. */
  nodeLeft(nodeId: NodeId, graceMs: number): void;
  /** It is back: jobs it no longer names are retried, the others go on. */
  nodeReturned(nodeId: NodeId, runningJobIds: readonly string[] | undefined): void;
  /** Resolves when no job is in flight, or after the limit; answers how many were left. */
  drain(limitMs: number): Promise<number>;
}
