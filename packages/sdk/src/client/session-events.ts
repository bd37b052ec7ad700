/** The events of a session. Every event carries its name as `type`. */
import type {
  MissingResult,
  SessionAsrPartial,
  TranslationPartial,
  TranslationResult,
  UiEvent,
  VoiceResult,
} from '@lingua/protocol';
import type { BackpressureAction } from './pacing.ts';

/** The utterance that an event is about. */
export interface OfUtterance {
  /** Position in the session; restarts when a session could not be resumed. */
  readonly utteranceIndex: number;
  /**
   * As returned by endUtterance() or sendUtterance(). Several utterances share it if the scheduler made more cuts
   * than you did.
   */
  readonly requestId: string | undefined;
}

/** An accepted utterance without a translation; an `error` before it names its position in the details and has the cause. */
export interface MissingUtterance extends OfUtterance {
  readonly reason: MissingResult['reason'];
  /** In sessions with `tgtLangs`: the language of this outcome. */
  readonly language: string | undefined;
  /** `voice`: only the speech is missing, or its text has an outcome of its own. */
  readonly part: 'text' | 'voice';
  readonly error: undefined;
  readonly message: MissingResult;
}

/** Invalid audio, which never had a position. Its outcome does not wait for those of earlier utterances. */
export interface RefusedAudio {
  readonly utteranceIndex: undefined;
  /** Of the utterance; one invalid chunk refuses all of it. */
  readonly requestId: string;
  readonly reason: 'refused';
  readonly language: undefined;
  readonly part: 'text';
  /** What to correct. The same was emitted as an `error` event. */
  readonly error: SessionEvents['error'];
  readonly message: undefined;
}

export interface SessionEvents {
  /**
   * The scheduler serves this session. Not resumed: its numbering restarts, and everything without an outcome is sent
   * again.
   */
  open: { readonly sessionId: string; readonly resumed: boolean };
  /** The scheduler has the audio of an utterance and is responsible for it from now on. */
  accepted: OfUtterance & { readonly jobId: string };
  /** Text recognised so far, or its translation. */
  partial: OfUtterance & {
    readonly text: string;
    readonly isFinal: boolean;
    /** While somebody speaks: a text with a higher revision replaces those before. Undefined: of the finished utterance. */
    readonly revision: number | undefined;
    /** Of a translation; undefined: it is what was recognised. */
    readonly language: string | undefined;
    readonly message: SessionAsrPartial | TranslationPartial;
  };
  /**
   * An outcome: the translation. Each utterance has exactly one outcome, delivered once and in order; with `tgtLangs` one for each language,
   * in order per language.
   */
  result: OfUtterance & {
    /** In sessions with `tgtLangs`: the language of this outcome. */
    readonly language: string | undefined;
    readonly textAsr: string;
    readonly textTranslated: string;
    /** Empty if there is no speech. */
    readonly ttsAudio: Uint8Array;
    /** `opus`: a sequence of [u16 LE length][packet], 16 kHz mono; anything else: pcm16 at 16 kHz. */
    readonly ttsFormat: string;
    /** Language of the speech as the node recognised it; absent if the node did not say. */
    readonly detectedLanguage: string | undefined;
    /** Terms of the glossary that the translation used; undefined: the node uses none. */
    readonly glossaryUsed: readonly string[] | undefined;
    /** Pass it to playbackStarted() and playbackEnded(). */
    readonly groupId: string | undefined;
    readonly traceId: string;
    /** The message as received, with timings and quality; mostly unchecked. */
    readonly message: TranslationResult;
  };
  /** An outcome, in sessions with `tgtLangs`: the spoken translation into one of the languages, in order per language. */
  voice: OfUtterance & {
    readonly language: string;
    readonly ttsAudio: Uint8Array;
    readonly ttsFormat: string;
    readonly groupId: string | undefined;
    readonly traceId: string;
    readonly message: VoiceResult;
  };
  /** An outcome: there is no translation, with the reason. */
  missing: MissingUtterance | RefusedAudio;
  /** Progress of an utterance, for display. */
  uiEvent: OfUtterance & {
    readonly event: UiEvent['event'];
    readonly isError: boolean;
    readonly errorCode: string | undefined;
    readonly hint: string | undefined;
    readonly message: UiEvent;
  };
  /** The scheduler requests less audio. The SDK complies; the application need not. */
  backpressure: { readonly action: BackpressureAction; readonly resumeAfterMs: number | undefined };
  /** The scheduler reports an error. After a fatal one the session has failed permanently. */
  error: {
    readonly code: string;
    readonly message: string;
    readonly details: unknown;
    readonly isFatal: boolean;
  };
  /** The connection is lost. Keep sending: audio is kept. */
  disconnected: { readonly code: number; readonly reason: string };
  reconnecting: { readonly attempt: number; readonly delayMs: number };
  /** Audio was refused, because too much audio waits for its outcome. */
  overflow: { readonly refusedBytes: number; readonly keptBytes: number; readonly limitBytes: number };
  /** The instance shuts down; the session moves to another one automatically. */
  draining: { readonly reconnectAfterMs: number };
  /** The last event. */
  closed: SessionEnd;
}

export interface SessionEnd {
  readonly reason: string;
  /** The scheduler confirmed it. */
  readonly isAcknowledged: boolean;
  /** Audio without an outcome. */
  readonly unsettledBytes: number;
}

export type SessionEventName = keyof SessionEvents;

/** One event by its name, or any. */
export type SessionEvent<Name extends SessionEventName = SessionEventName> = {
  [Each in Name]: { readonly type: Each } & SessionEvents[Each];
}[Name];
