/**
 * Port: traces, made from job records and utterances after their outcome.
 *
 * The law: the tracer is called once an outcome is final; a call never waits and never throws. Spans contain ids, times and codes
 * only, never recognised or translated text. Spans that cannot be queued or sent are dropped and counted. Several instances may send
 * spans of one utterance: they form one tree, because each instance derives the same span ids from the same names. Without a tracer
 * no code runs for traces.
 */
import type { JobId, SessionId, TenantId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';

/** One utterance of a session, from its first audio to its delivery. Times are epoch milliseconds. */
export interface TracedUtterance {
  readonly traceId: string;
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly index: number;
  readonly jobId: JobId;
  readonly startedAt: number;
  readonly acceptedAt: number;
  /** When it had its outcome; absent: it had none. */
  readonly readyAt?: number | undefined;
  readonly endedAt: number;
  /** `result`, the reason why there is none, or `unheard`: the session ended before the delivery. */
  readonly outcome: string;
  readonly deliverySeq?: number | undefined;
}

export interface Tracer {
  /** Called by the job's driver. */
  jobSettled(job: JobRecord): void;
  /** Called by the instance that has the session. */
  utteranceEnded(utterance: TracedUtterance): void;
}
