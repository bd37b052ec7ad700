/** What an application says when it opens a session, and the defaults of what it leaves out. */
import type { AudioFormat, FeatureFlags, Pipeline } from '@lingua/protocol';
import { BACKOFF, type BackoffSettings } from './backoff.ts';
import { type SessionClock, systemClock } from './clock.ts';
import type { OutboxLimits } from './outbox.ts';
import { newRequestId } from './request-id.ts';
import type { SessionEvent } from './session-events.ts';
import { sessionUrl } from './session-url.ts';
import type { WebSocketConstructor } from './socket.ts';

/** The languages of what is said, and what is wanted of it. */
export interface Speech {
  /** Such as `en`, or `auto`. */
  readonly srcLang: string;
  readonly tgtLang: string;
  readonly dialect?: string | undefined;
  readonly features?: FeatureFlags | undefined;
  /** `two_way_auto`: two people, `langA` and `langB`, each translated into the language of the other. */
  readonly mode?: 'one_way' | 'two_way_auto' | undefined;
  readonly langA?: string | undefined;
  readonly langB?: string | undefined;
  /** Languages to choose from when the source is `auto`. */
  readonly autoLangs?: readonly string[] | undefined;
  readonly enableStreamingAsr?: boolean | undefined;
  readonly partialUpdateIntervalMs?: number | undefined;
  readonly traceId?: string | undefined;
}

export interface SessionOptions extends Speech {
  /** ws://host/ws/session, or the http address of the scheduler. In a page it may be relative to that page. */
  readonly url: string;
  /** Travels in the address, because browsers cannot set headers. */
  readonly token?: string | undefined;
  readonly tenantId?: string | undefined;
  /** `web`, `android`, `ios` or `api-gateway`; default `web`. */
  readonly platform?: string | undefined;
  readonly clientVersion?: string | undefined;
  /** pcm16: 16-bit mono (default). opus: a run of [u16 LE length][packet], whole packets per chunk. */
  readonly audioFormat?: 'pcm16' | 'opus' | undefined;
  /** Default 16000. */
  readonly sampleRate?: number | undefined;
  /** Where there is no global one, as in Node.js 20: that of the `ws` package. */
  readonly WebSocket?: WebSocketConstructor | undefined;
  readonly limits?: Partial<SessionLimits> | undefined;
  readonly timings?: Partial<SessionTimings> | undefined;
  /** What a listener throws ends here; default `console.error`. */
  readonly onListenerError?: ((error: unknown, event: SessionEvent) => void) | undefined;
  /** For tests. */
  readonly clock?: SessionClock | undefined;
  /** For tests: from 0 to below 1. */
  readonly chance?: (() => number) | undefined;
  /** For tests: names for utterances, never the same again. */
  readonly newRequestId?: (() => string) | undefined;
}

/** One whole utterance; what is absent is as in the session. */
export interface UtteranceOptions extends Partial<Speech> {
  readonly audioFormat?: AudioFormat | undefined;
  readonly sampleRate?: number | undefined;
  readonly pipeline?: Pipeline | undefined;
  /** The speaker ended it; default true. */
  readonly manualCut?: boolean | undefined;
  /** Makes a repeat harmless, also one from another session; default: a fresh one. */
  readonly requestId?: string | undefined;
}

export interface SessionLimits extends OutboxLimits {
  readonly maxChunkBytes: number;
  readonly maxUtteranceBytes: number;
  /** No more is written to a socket that has this much unsent. */
  readonly maxSocketBytes: number;
}

export interface SessionTimings extends BackoffSettings {
  /** From the first packet to session_init_ack. */
  readonly openTimeoutMs: number;
  readonly heartbeatMs: number;
  /** Without any message from the scheduler for this long the connection is given up. */
  readonly silenceMs: number;
  /** Acknowledgements of results wait this long for more of them. */
  readonly ackDelayMs: number;
  /** How long close() takes at most. */
  readonly closeTimeoutMs: number;
}

export const SESSION_LIMITS: SessionLimits = {
  maxKeptBytes: 8 * 1024 * 1024,
  maxJoinedBytes: 64 * 1024,
  // The scheduler takes 32 by default, and asks for less from the half of it on.
  maxUtterancesInFlight: 12,
  maxChunkBytes: 256 * 1024,
  // In base64 below the 2 MB that the scheduler takes in one message.
  maxUtteranceBytes: 1024 * 1024,
  maxSocketBytes: 1024 * 1024,
};

export const SESSION_TIMINGS: SessionTimings = {
  ...BACKOFF,
  openTimeoutMs: 10_000,
  heartbeatMs: 25_000,
  silenceMs: 60_000,
  ackDelayMs: 50,
  closeTimeoutMs: 10_000,
};

/** Extensions of the protocol that this SDK speaks. */
export const SESSION_EXTENSIONS = ['result_ack', 'utterance_accepted', 'backpressure', 'server_draining'];
export const CLIENT_VERSION = 'lingua-sdk/0.1.0';

/** A mistake in the options is a fault of the program, so it is told at once and not by an event. */
export function readOptions(options: SessionOptions) {
  const WebSocket =
    options.WebSocket ?? (globalThis as { WebSocket?: WebSocketConstructor | undefined }).WebSocket;
  if (WebSocket === undefined)
    throw new TypeError('there is no WebSocket here: give one, such as that of the ws package');
  for (const name of ['srcLang', 'tgtLang'] as const) {
    if (typeof options[name] !== 'string' || options[name] === '')
      throw new TypeError(`${name} must be a language, such as "en"`);
  }
  return {
    ...options,
    url: sessionUrl(options.url, options.token),
    WebSocket,
    audioFormat: options.audioFormat ?? 'pcm16',
    sampleRate: options.sampleRate ?? 16_000,
    clock: options.clock ?? systemClock,
    chance: options.chance ?? Math.random,
    newRequestId: options.newRequestId ?? newRequestId,
    onListenerError: options.onListenerError ?? ((error: unknown) => console.error(error)),
    limits: { ...SESSION_LIMITS, ...options.limits },
    timings: { ...SESSION_TIMINGS, ...options.timings },
  };
}
