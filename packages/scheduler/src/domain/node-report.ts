/** Vocabulary: what is said of a job from outside — by its node, by its caller — and what comes of it. */
import type { JobId, NodeId } from './ids.ts';
import type { JobRecord } from './job.ts';

/** For answers that may name the wrong attempt: then only (node, job) are compared. */
export const ANY_ATTEMPT = -1;

/** Who answers, for which attempt. */
export interface ReportedAttempt {
  readonly nodeId: NodeId;
  readonly jobId: JobId;
  readonly attempt: number;
}

export interface ReportedFailure {
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface Accepted {
  readonly kind: 'accepted';
}

export type ReportResult =
  | (Accepted & { readonly job: JobRecord })
  /** Changed nothing. `fenced`: another attempt is current; `settled`: the job has its outcome. */
  | { readonly kind: 'ignored'; readonly reason: 'unknown_job' | 'fenced' | 'settled' | 'lease_lost' };

export type CancelOutcome = { readonly kind: 'cancelled' | 'settled' | 'unknown_job' };

/** What whoever brought an answer is told of it. */
export type ReportOutcome = Accepted | Extract<ReportResult, { readonly kind: 'ignored' }>;
