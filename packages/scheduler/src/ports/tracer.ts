/**
 * Port: traces, made after the fact from what is known anyway.
 *
 * The law: it is told of an outcome once it stands, never waits and never throws; it keeps nothing of what it is given but names and
 * times — recognised or translated text goes nowhere —; what it cannot keep or send is dropped and counted. Spans of one utterance fit
 * together although several instances tell of them, because every id follows from names that all of them know. Absent: nothing is
 * traced, and nothing is done for it.
 */
import type { JobId, SessionId, TenantId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';

/** One utterance of a session, from its first sound to the client. Times are epoch milliseconds. */
export interface TracedUtterance {
  readonly traceId: string;
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly index: number;
  readonly jobId: JobId;
  readonly startedAt: number;
  readonly acceptedAt: number;
  /** When it had its outcome; absent: it never had one. */
  readonly readyAt?: number | undefined;
  readonly endedAt: number;
  /** `result`, why there is none, or `unheard`: the session ended before. */
  readonly outcome: string;
  readonly deliverySeq?: number | undefined;
}

export interface Tracer {
  /** By the instance that drives it. */
  jobSettled(job: JobRecord): void;
  /** By the instance that has the session. */
  utteranceEnded(utterance: TracedUtterance): void;
}
