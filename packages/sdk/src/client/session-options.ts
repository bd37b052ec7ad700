/** The options of a session, and their defaults. */
import type { AudioFormat, FeatureFlags, Pipeline } from '@lingua/protocol';
import { type SessionClock, systemClock } from './clock.ts';
import { BACKOFF, type BackoffSettings } from './connection/backoff.ts';
import type { Fetch } from './connection/find-cause.ts';
import type { WebSocketConstructor } from './connection/socket.ts';
import type { OutboxLimits } from './outbox.ts';
import type { SessionEvent } from './session-events.ts';

/** The languages and features of the speech. */
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
  /** Candidate languages when the source is `auto`. */
  readonly autoLangs?: readonly string[] | undefined;
  readonly enableStreamingAsr?: boolean | undefined;
  readonly partialUpdateIntervalMs?: number | undefined;
  readonly traceId?: string | undefined;
}

export interface SessionOptions extends Omit<Speech, 'tgtLang'> {
  /** Such as `es`; default: the first of `tgtLangs`. */
  readonly tgtLang?: string | undefined;
  /** Several target languages, each with outcomes of its own: a `result` for its text and a `voice` for its speech. */
  readonly tgtLangs?: readonly string[] | undefined;
  /** Glossary of the tenant whose terms the translations use; default: that of the tenant. */
  readonly glossaryId?: string | undefined;
  /** Those of `tgtLangs` that are spoken; default: all. */
  readonly voiceLangs?: readonly string[] | undefined;
  /** ws://host/ws/session, or the http address of the scheduler. In a page it may be relative to that page. */
  readonly url: string;
  /**
   * Sent in the URL, because browsers cannot set headers. A function is called before every connect: for short-lived tokens, which
   * must be fresh when the connection breaks.
   */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  readonly tenantId?: string | undefined;
  /** `web`, `android`, `ios` or `api-gateway`; default `web`. */
  readonly platform?: string | undefined;
  readonly clientVersion?: string | undefined;
  /** Nodes near this region are preferred; default: that of the instance. */
  readonly region?: string | undefined;
  /** pcm16: 16-bit mono (default). opus: a sequence of [u16 LE length][packet], with whole packets per chunk. */
  readonly audioFormat?: 'pcm16' | 'opus' | undefined;
  /** Default 16000. */
  readonly sampleRate?: number | undefined;
  /** Required where there is no global WebSocket, as in Node.js 20: pass the one of the `ws` package. */
  readonly WebSocket?: WebSocketConstructor | undefined;
  /** Asks the scheduler why it refused a connection, which a WebSocket does not tell; default: the global one. */
  readonly fetch?: Fetch | undefined;
  readonly limits?: Partial<SessionLimits> | undefined;
  readonly timings?: Partial<SessionTimings> | undefined;
  /** Whether close() also sends what getStats() counts, without texts; default false. */
  readonly reportStats?: boolean | undefined;
  /** Receives what a listener throws; default `console.error`. Without an event: a listener of a room. */
  readonly onListenerError?: ((error: unknown, event: SessionEvent | undefined) => void) | undefined;
  /** For tests. */
  readonly clock?: SessionClock | undefined;
  /** For tests: from 0 to below 1. */
  readonly chance?: (() => number) | undefined;
  /** For tests: unique request ids. */
  readonly newRequestId?: (() => string) | undefined;
}

/** One whole utterance; absent options are those of the session. */
export interface UtteranceOptions extends Partial<Speech> {
  readonly audioFormat?: AudioFormat | undefined;
  readonly sampleRate?: number | undefined;
  readonly pipeline?: Pipeline | undefined;
  /** The speaker ended it; default true. */
  readonly manualCut?: boolean | undefined;
  /** Makes a repeat harmless, also one from another session; default: a new id. */
  readonly requestId?: string | undefined;
}

export interface SessionLimits extends OutboxLimits {
  readonly maxChunkBytes: number;
  readonly maxUtteranceBytes: number;
  /** Nothing is written to a socket with this much unsent data. */
  readonly maxSocketBytes: number;
}

export interface SessionTimings extends BackoffSettings {
  /** From the first packet to session_init_ack. */
  readonly openTimeoutMs: number;
  readonly heartbeatMs: number;
  /** The connection is closed after this long without any message from the scheduler. */
  readonly silenceMs: number;
  /** How long an acknowledgement waits for further outcomes. */
  readonly ackDelayMs: number;
  /** The longest duration of close(). */
  readonly closeTimeoutMs: number;
}

export const SESSION_LIMITS: SessionLimits = {
  maxKeptBytes: 8 * 1024 * 1024,
  maxJoinedBytes: 64 * 1024,
  // The scheduler accepts 32 by default, and applies backpressure from half of that.
  maxUtterancesInFlight: 12,
  maxChunkBytes: 256 * 1024,
  // As base64 it stays below the 2 MB that the scheduler accepts per message.
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

/** Protocol extensions that this SDK supports. */
export const SESSION_EXTENSIONS = ['result_ack', 'utterance_accepted', 'backpressure', 'server_draining'];
export const CLIENT_VERSION = 'lingua-sdk/0.1.0';

/** Invalid options are a programming error, so they throw instead of causing an event. */
export function readOptions(options: SessionOptions) {
  const WebSocket =
    options.WebSocket ?? (globalThis as { WebSocket?: WebSocketConstructor | undefined }).WebSocket;
  if (WebSocket === undefined)
    throw new TypeError('no global WebSocket: pass one, such as that of the ws package');
  const tgtLang = options.tgtLang ?? options.tgtLangs?.[0];
  for (const [name, language] of [
    ['srcLang', options.srcLang],
    ['tgtLang', tgtLang],
  ]) {
    if (typeof language !== 'string' || language === '')
      throw new TypeError(`${name} must be a language, such as "en"`);
  }
  const { token } = options;
  return {
    ...options,
    tgtLang: tgtLang as string,
    url: sessionUrl(options.url, typeof token === 'string' ? token : undefined),
    freshUrl: typeof token === 'function' ? async () => sessionUrl(options.url, await token()) : undefined,
    WebSocket,
    fetch: options.fetch ?? globalFetch(),
    audioFormat: options.audioFormat ?? 'pcm16',
    sampleRate: options.sampleRate ?? 16_000,
    clock: options.clock ?? systemClock,
    reportStats: options.reportStats ?? false,
    chance: options.chance ?? Math.random,
    newRequestId: options.newRequestId ?? newRequestId,
    onListenerError: options.onListenerError ?? ((error: unknown) => console.error(error)),
    limits: { ...SESSION_LIMITS, ...options.limits },
    timings: { ...SESSION_TIMINGS, ...options.timings },
  };
}

/** Called without an owner, which browsers require. */
function globalFetch(): Fetch | undefined {
  const { fetch } = globalThis as { fetch?: Fetch };
  return fetch && ((url, init) => fetch(url, init));
}

const REQUEST_ID_BYTES = 16;

/** Random and unguessable. Uses getRandomValues, because pages without https have no randomUUID. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(REQUEST_ID_BYTES));
  return `req-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

const PATH = '/ws/session';
const SCHEMES: Readonly<Record<string, string>> = {
  'http:': 'ws:',
  'https:': 'wss:',
  'ws:': 'ws:',
  'wss:': 'wss:',
};

export function sessionUrl(given: string, token: string | undefined): string {
  const page = (globalThis as { location?: { href?: string } }).location?.href;
  let url: URL;
  try {
    url = new URL(given, page);
  } catch {
    throw new TypeError('url must be an address, such as ws://127.0.0.1:5010/ws/session');
  }
  const scheme = SCHEMES[url.protocol];
  if (scheme === undefined) throw new TypeError('url must begin with ws, wss, http or https');
  const path = url.pathname.replace(/\/+$/, '');
  // An http URL names the scheduler; a ws URL is used as it is, unless it has no path.
  const isBase = path === '' || (url.protocol.startsWith('http') && !path.endsWith(PATH));
  url.pathname = isBase ? path + PATH : path;
  url.protocol = scheme;
  url.hash = '';
  if (token !== undefined) url.searchParams.set('token', token);
  return url.href;
}
