/** Vocabulary of sessions: the messages to a client. The transport encodes them. */
import type { ErrorCode } from '../domain/errors.ts';
import type { SessionId } from '../domain/ids.ts';
import type { Language } from '../domain/language.ts';
import type { WantedTarget } from '../domain/plan.ts';
import type { QuotaState } from '../domain/quota.ts';
import type { PressureAction } from './outcomes/backpressure.ts';
import type { Delivered } from './outcomes/delivery.ts';
import type { Utterance } from './session.ts';

export const UI_EVENTS = [
  'INPUT_STARTED',
  'INPUT_ENDED',
  'DISPATCHED',
  'NODE_ACCEPTED',
  'ASR_PARTIAL',
  'ASR_FINAL',
  'NMT_DONE',
  'ERROR',
  'TTS_PLAY_STARTED',
  'TTS_PLAY_ENDED',
] as const;
export type UiEventName = (typeof UI_EVENTS)[number];

/** The utterance that a message is about. */
export type About = Pick<Utterance, 'index' | 'jobId' | 'traceId' | 'rendition'>;

export type SessionOutput =
  | {
      readonly kind: 'opened';
      readonly traceId: string;
      readonly audioFormat: string;
      readonly sampleRate: number;
      /** Only at the first opening: the session keeps the digest alone. */
      readonly resumeToken: string | undefined;
      readonly isResumed: boolean;
      /** The client should send audio without an outcome again. */
      readonly hasMoved: boolean;
      readonly warning: string | undefined;
      readonly targets: readonly WantedTarget[] | undefined;
    }
  /** `quota`: one that its tenant has reached. */
  | {
      readonly kind: 'accepted';
      readonly utterance: Utterance;
      readonly quota: QuotaState | undefined;
    }
  | {
      readonly kind: 'partial';
      readonly about: About;
      readonly text: string;
      readonly isFinal: boolean;
      /** Of a text while somebody speaks. */
      readonly revision?: number | undefined;
      /** Of a translation; absent: it is the recognised text. */
      readonly language?: Language | undefined;
    }
  | {
      readonly kind: 'outcome';
      readonly delivered: Delivered<Utterance>;
      /** The client acknowledges by number. */
      readonly isNumbered: boolean;
      readonly sentAt: number;
      readonly webToSchedulerMs: number | undefined;
    }
  | {
      readonly kind: 'ui_event';
      readonly about: About;
      readonly event: UiEventName;
      readonly elapsedMs: number;
      readonly errorCode?: ErrorCode;
      /** Absent: the hint of the code. */
      readonly hint?: string | undefined;
    }
  | { readonly kind: 'pressure'; readonly action: PressureAction; readonly resumeAfterMs: number }
  | { readonly kind: 'heartbeat'; readonly at: number }
  | { readonly kind: 'draining'; readonly reconnectAfterMs: number }
  /** `isOrdered`: by an operator; the connection is closed, too. */
  | { readonly kind: 'closed'; readonly isOrdered: boolean }
  | {
      readonly kind: 'error';
      readonly code: ErrorCode;
      readonly message: string;
      /** Absent: the hint of the code. */
      readonly hint?: string | undefined;
      readonly details?: Readonly<Record<string, unknown>>;
    };

/** The client's connection. */
export interface SessionLink {
  send(sessionId: SessionId, output: SessionOutput): void;
  /** A newer connection has the session. */
  replaced(): void;
  /** This instance may serve no client any more; another one does. */
  abandoned(): void;
}
