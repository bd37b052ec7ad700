/** Vocabulary: reports of nodes and requests of callers about a job, and their results. */
import type { JobId, NodeId } from './ids.ts';
import type { JobRecord } from './job.ts';

/** For reports that may name the wrong attempt: only node and job are compared. */
export const ANY_ATTEMPT = -1;

/** The node and the attempt of a report. */
export interface ReportedAttempt {
  readonly nodeId: NodeId;
  readonly jobId: JobId;
  readonly attempt: number;
  /** Of the connection by which the node acknowledged, if another instance than the driver holds it. */
  readonly generation?: number | undefined;
}

/** How a holder handed an attempt to its node. */
export interface HandOver {
  /** Of the connection that the job was written to. */
  readonly generation?: number | undefined;
  /** The job was posted to the node's endpoint, not written to the connection by which the node itself reports. */
  readonly isOutOfBand?: boolean | undefined;
}

export interface ReportedFailure {
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Text recognised so far. */
export interface PartialText {
  readonly jobId: JobId;
  readonly nodeId: NodeId;
  readonly text: string;
  readonly isFinal: boolean;
}

/** Texts of a job that are final before its voice is there. */
export interface EarlyText {
  readonly textAsr: string;
  readonly textTranslated: string;
}

export interface Accepted {
  readonly kind: 'accepted';
}

export type ReportResult =
  | (Accepted & { readonly job: JobRecord })
  /** Changed nothing. `fenced`: another attempt is current; `settled`: the job has its outcome. */
  | { readonly kind: 'ignored'; readonly reason: 'unknown_job' | 'fenced' | 'settled' | 'lease_lost' };

export type CancelOutcome = { readonly kind: 'cancelled' | 'settled' | 'unknown_job' };

/** The result of a report, for its sender. */
export type ReportOutcome = Accepted | Extract<ReportResult, { readonly kind: 'ignored' }>;
