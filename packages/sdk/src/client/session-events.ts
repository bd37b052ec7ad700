/** What a session tells its application. Every event carries its name as `type`. */
import type { MissingResult, SessionAsrPartial, TranslationResult, UiEvent } from '@lingua/protocol';
import type { BackpressureAction } from './pacing.ts';

/** Which utterance an event is about. */
export interface OfUtterance {
  /** Position in the session; starts anew when a session could not be resumed. */
  readonly utteranceIndex: number;
  /** As returned by endUtterance() or sendUtterance(). Several utterances share it if the scheduler cut more often than you did. */
  readonly requestId: string | undefined;
}

export interface SessionEvents {
  /** The scheduler serves this session. Not resumed: its numbering starts anew, and everything without outcome is sent again. */
  open: { readonly sessionId: string; readonly resumed: boolean };
  /** The scheduler has the audio of an utterance and answers for it from here on. */
  accepted: OfUtterance & { readonly jobId: string };
  /** Text recognised so far. */
  partial: OfUtterance & {
    readonly text: string;
    readonly isFinal: boolean;
    readonly message: SessionAsrPartial;
  };
  /** An outcome: the translation. Each utterance has exactly one outcome, told once and in order. */
  result: OfUtterance & {
    readonly textAsr: string;
    readonly textTranslated: string;
    /** Empty if nothing was spoken. */
    readonly ttsAudio: Uint8Array;
    /** `opus`: a run of [u16 LE length][packet], 16 kHz mono; anything else: pcm16 at 16 kHz. */
    readonly ttsFormat: string;
    /** To be named in playbackStarted() and playbackEnded(). */
    readonly groupId: string | undefined;
    readonly traceId: string;
    /** As it came, with timings and quality; only looked at lightly. */
    readonly message: TranslationResult;
  };
  /** An outcome: there is no translation, and why. */
  missing: OfUtterance & {
    readonly reason: MissingResult['reason'];
    readonly message: MissingResult;
  };
  /** Progress of an utterance, for display. */
  uiEvent: OfUtterance & {
    readonly event: UiEvent['event'];
    readonly isError: boolean;
    readonly errorCode: string | undefined;
    readonly hint: string | undefined;
    readonly message: UiEvent;
  };
  /** The scheduler asks for less audio; the SDK obeys, you need not. */
  backpressure: { readonly action: BackpressureAction; readonly resumeAfterMs: number | undefined };
  /** The scheduler complains. After a fatal one the session has failed and will not come back. */
  error: {
    readonly code: string;
    readonly message: string;
    readonly details: unknown;
    readonly isFatal: boolean;
  };
  /** The connection is gone. Go on sending: audio is kept. */
  disconnected: { readonly code: number; readonly reason: string };
  reconnecting: { readonly attempt: number; readonly delayMs: number };
  /** Audio was refused, because too much of it waits for its outcome. */
  overflow: { readonly refusedBytes: number; readonly keptBytes: number; readonly limitBytes: number };
  /** The instance is going away; the session moves on by itself. */
  draining: { readonly reconnectAfterMs: number };
  /** The last event. */
  closed: SessionEnd;
}

export interface SessionEnd {
  readonly reason: string;
  /** The scheduler confirmed it. */
  readonly isAcknowledged: boolean;
  /** Audio whose outcome never came. */
  readonly unsettledBytes: number;
}

export type SessionEventName = keyof SessionEvents;

/** One event by its name, or any. */
export type SessionEvent<Name extends SessionEventName = SessionEventName> = {
  [Each in Name]: { readonly type: Each } & SessionEvents[Each];
}[Name];
