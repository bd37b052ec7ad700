/** Vocabulary of sessions: the events of a session and the effects of its steps. */
import type { DispatchOutcome, DispatchRequest } from '../domain/dispatch.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { JobId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { AudioSource, Pipeline } from '../domain/job-spec.ts';
import type { Language } from '../domain/language.ts';
import type { MetricName } from '../domain/metrics.ts';
import type { PartOutcome, PlanRequest } from '../domain/plan.ts';
import type { Labels } from '../ports/meter.ts';
import type { Delivered } from './outcomes/delivery.ts';
import type { SessionLink, SessionOutput } from './output.ts';
import type { Opening, Speech, Utterance } from './session.ts';
import type { AudioRefusal } from './speech/segment.ts';

export interface Chunk {
  readonly kind: 'chunk';
  readonly seq: number;
  readonly audio: Buffer | undefined;
  readonly isFinal: boolean;
  readonly requestId?: string | undefined;
  readonly clientTimestampMs?: number | undefined;
  /** It has no usable audio: its utterance is refused. */
  readonly refusal?: AudioRefusal | undefined;
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
  /** The saved state says that it has no translation. */
  readonly includesMissing: boolean;
}

/** `released`: another instance requested it. `taken`: another instance took it without a request. `fenced`: this instance may serve no client any more. */
export type Departure = 'released' | 'taken' | 'fenced';

/** Events that come from the client. */
export type ClientEvent =
  | Chunk
  | GivenUtterance
  | { readonly kind: 'playback_started' | 'playback_ended'; readonly groupId: string }
  | { readonly kind: 'heartbeat' | 'close' }
  | { readonly kind: 'acknowledged'; readonly deliverySeq: number };

export type SessionEvent =
  | ClientEvent
  | { readonly kind: 'time_passed' }
  /** An operator ends the session. */
  | { readonly kind: 'close_ordered' }
  /** The limits of this instance leave no space for it. */
  | { readonly kind: 'evicted' }
  /** `resumeToken`: only of a new session, sent once; the client of a resumed session has it already. */
  | {
      readonly kind: 'attached';
      readonly link: SessionLink;
      readonly opening: Opening;
      readonly isResumed: boolean;
      /** The session came from another instance. */
      readonly hasMoved: boolean;
      readonly resumeToken?: string | undefined;
    }
  | { readonly kind: 'detached'; readonly link: SessionLink }
  /** What was said is erased: of one job, or of the whole session, which ends. */
  | { readonly kind: 'erased'; readonly jobId?: JobId | undefined }
  | { readonly kind: 'drain'; readonly reconnectAfterMs: number; readonly limitMs: number }
  /** The draining session is saved completely: the client may connect elsewhere. */
  | { readonly kind: 'ready_to_move'; readonly reconnectAfterMs: number }
  /** The saved state now contains these utterances with these job ids, and the outcomes up to this number. */
  | { readonly kind: 'saved'; readonly names: readonly SavedName[]; readonly deliverySeq: number }
  /** The session leaves this instance; another one may resume it. */
  | { readonly kind: 'depart'; readonly why: Departure }
  /** The record of a job that another instance accepted or drives was read. */
  | { readonly kind: 'job_read'; readonly utterance: Utterance; readonly job: JobRecord }
  /** Its job has no record and will have none. */
  | { readonly kind: 'job_gone'; readonly utterance: Utterance }
  | { readonly kind: 'admitted'; readonly utterance: Utterance }
  | { readonly kind: 'dispatched'; readonly utterance: Utterance; readonly outcome: DispatchOutcome }
  | { readonly kind: 'job_moved'; readonly utterance: Utterance; readonly job: JobRecord }
  | {
      readonly kind: 'partial';
      readonly utterance: Utterance;
      readonly text: string;
      readonly isFinal: boolean;
    }
  /** The text so far of the utterance that begins with this chunk; empty: there is none. `translation`: what it is a translation of. */
  | {
      readonly kind: 'interim_text';
      readonly firstSeq: number;
      readonly text: string;
      readonly translation?: InterimTranslation | undefined;
    }
  | PlanEvent;

/** The language of a translation of a text so far, and the revision of that text. */
export interface InterimTranslation {
  readonly language: Language;
  readonly revision: number;
}

/** What concerns the plan of an utterance. */
export type PlanEvent =
  /** No node can do all of this job, but several can together. */
  | { readonly kind: 'split'; readonly utterance: Utterance; readonly request: DispatchRequest }
  | {
      readonly kind: 'recognised';
      readonly utterance: Utterance;
      readonly text: string;
      readonly language: Language;
    }
  /** A job that these outcomes need has moved. */
  | { readonly kind: 'parts_moved'; readonly utterances: readonly Utterance[]; readonly job: JobRecord }
  | { readonly kind: 'part_settled'; readonly utterance: Utterance; readonly outcome: PartOutcome };

/** Run after the step, in order. */
export type SessionEffect =
  | { readonly kind: 'send'; readonly output: SessionOutput }
  /** A newer connection has the session. */
  | { readonly kind: 'replace'; readonly link: SessionLink }
  /** The client must connect to another instance. */
  | { readonly kind: 'abandon'; readonly link: SessionLink }
  | { readonly kind: 'dispatch'; readonly utterance: Utterance; readonly request: DispatchRequest }
  /** `utterance`: the first outcome of one in several languages. */
  | { readonly kind: 'plan'; readonly utterance: Utterance; readonly request: PlanRequest }
  /** Recognises the audio so far of the utterance that begins with this chunk, or translates what was recognised of it. */
  | {
      readonly kind: 'interim';
      readonly firstSeq: number;
      readonly request: DispatchRequest;
      readonly translation?: InterimTranslation | undefined;
    }
  /** An utterance has begun, or ended. */
  | { readonly kind: 'speaking'; readonly isSpeaking: boolean }
  /** The utterance has ended: a text so far is not needed any more. */
  | { readonly kind: 'interim_over' }
  /** The utterance is settled; its job is no longer watched. */
  | { readonly kind: 'forget'; readonly utterance: Utterance }
  /** Another instance waits for the job. */
  | { readonly kind: 'hand_over'; readonly utterance: Utterance }
  /** The job should stop. */
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
  /** An outcome was delivered; only when traces are on. */
  | { readonly kind: 'trace'; readonly delivered: Delivered<Utterance>; readonly at: number }
  /** The client has its outcome for good. */
  | { readonly kind: 'delivered'; readonly utterance: Utterance }
  /** No other instance may resume it any more. */
  | { readonly kind: 'remove_saved' }
  /** `unsettled`: its utterances without an outcome. They are cancelled once it is certain that no other instance owns the session. */
  | { readonly kind: 'end'; readonly reason: string; readonly unsettled?: readonly Utterance[] }
  /** It ended on this instance only. */
  | { readonly kind: 'departed'; readonly reason: string };
