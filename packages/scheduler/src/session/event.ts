/** Vocabulary of sessions: what happens to one, and what has to be done about it. */
import type { DispatchOutcome, DispatchRequest } from '../domain/dispatch.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { JobId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { AudioSource, Pipeline } from '../domain/job-spec.ts';
import type { MetricName } from '../domain/metrics.ts';
import type { Labels } from '../ports/meter.ts';
import type { Delivered } from './outcomes/delivery.ts';
import type { SessionLink, SessionOutput } from './output.ts';
import type { Opening, Speech, Utterance } from './session.ts';

export interface Chunk {
  readonly kind: 'chunk';
  readonly seq: number;
  readonly audio: Buffer | undefined;
  readonly isFinal: boolean;
  readonly requestId?: string | undefined;
  readonly clientTimestampMs?: number | undefined;
}

/** A whole utterance, cut by the client. */
export interface GivenUtterance {
  readonly kind: 'utterance';
  readonly index: number;
  readonly isManualCut: boolean;
  readonly speech: Speech;
  readonly pipeline?: Pipeline | undefined;
  readonly traceId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly source: AudioSource;
  readonly audio: Buffer | undefined;
}

export interface SavedName {
  readonly utterance: Utterance;
  readonly jobId: JobId;
  /** With it was written that it is to have no translation. */
  readonly includesMissing: boolean;
}

/** `released`: another instance asked for it. `taken`: it did not ask. `fenced`: this instance may serve nobody any more. */
export type Departure = 'released' | 'taken' | 'fenced';

/** What a client may do to its session. */
export type ClientEvent =
  | Chunk
  | GivenUtterance
  | { readonly kind: 'playback_started' | 'playback_ended'; readonly groupId: string }
  | { readonly kind: 'heartbeat' | 'close' }
  | { readonly kind: 'acknowledged'; readonly deliverySeq: number };

export type SessionEvent =
  | ClientEvent
  | { readonly kind: 'time_passed' }
  /** There is no room for it any more. */
  | { readonly kind: 'evicted' }
  /** `resumeToken`: of a new session, to be told once; a resumed one has its own already. */
  | {
      readonly kind: 'attached';
      readonly link: SessionLink;
      readonly opening: Opening;
      readonly isResumed: boolean;
      /** From another instance. */
      readonly hasMoved: boolean;
      readonly resumeToken?: string | undefined;
    }
  | { readonly kind: 'detached'; readonly link: SessionLink }
  | { readonly kind: 'drain'; readonly reconnectAfterMs: number; readonly limitMs: number }
  /** Draining, and others know all there is to know: the client may go. */
  | { readonly kind: 'ready_to_move'; readonly reconnectAfterMs: number }
  /** Others can find these utterances, under these names. */
  | { readonly kind: 'saved'; readonly names: readonly SavedName[] }
  /** The session goes on elsewhere, if anywhere. */
  | { readonly kind: 'depart'; readonly why: Departure }
  /** What became of an utterance that another instance accepted, or drives. */
  | { readonly kind: 'job_read'; readonly utterance: Utterance; readonly job: JobRecord }
  /** Nothing will come of it any more. */
  | { readonly kind: 'job_gone'; readonly utterance: Utterance }
  | { readonly kind: 'admitted'; readonly utterance: Utterance }
  | { readonly kind: 'dispatched'; readonly utterance: Utterance; readonly outcome: DispatchOutcome }
  | { readonly kind: 'job_moved'; readonly utterance: Utterance; readonly job: JobRecord }
  | {
      readonly kind: 'partial';
      readonly utterance: Utterance;
      readonly text: string;
      readonly isFinal: boolean;
    };

/** Done after the step, in order. */
export type SessionEffect =
  | { readonly kind: 'send'; readonly output: SessionOutput }
  /** A newer connection has the session. */
  | { readonly kind: 'replace'; readonly link: SessionLink }
  /** The client has to look for another instance. */
  | { readonly kind: 'abandon'; readonly link: SessionLink }
  | { readonly kind: 'dispatch'; readonly utterance: Utterance; readonly request: DispatchRequest }
  /** Nobody here waits for the job any more. */
  | { readonly kind: 'forget'; readonly utterance: Utterance }
  /** But somebody elsewhere may. */
  | { readonly kind: 'hand_over'; readonly utterance: Utterance }
  /** And nobody should go on with it. */
  | {
      readonly kind: 'cancel';
      readonly utterance: Utterance;
      readonly code: ErrorCode;
      readonly message: string;
    }
  | { readonly kind: 'count'; readonly name: MetricName; readonly labels: Labels; readonly by: number }
  | {
      readonly kind: 'observe';
      readonly name: MetricName;
      readonly value: number;
      readonly labels?: Labels;
    }
  /** Its outcome has left; only if anybody wants to know. */
  | { readonly kind: 'trace'; readonly delivered: Delivered<Utterance>; readonly at: number }
  /** Nobody else can go on with it any more. */
  | { readonly kind: 'remove_saved' }
  /** `unheard`: what only it waited for, to be cancelled once it is certain that nobody else has the session. */
  | { readonly kind: 'end'; readonly reason: string; readonly unsettled?: readonly Utterance[] }
  /** It is over here alone. */
  | { readonly kind: 'departed'; readonly reason: string };
