/** The client SDK: sends speech and receives translations over connections that may break. For browsers and Node.js. */
export type {
  FeatureFlags,
  MissingResult,
  Pipeline,
  SessionAsrPartial,
  TranslationResult,
  UiEvent,
} from '@lingua/protocol';
export { BACKOFF, type BackoffSettings } from './backoff.ts';
export type { Cancel, SessionClock } from './clock.ts';
export type { Listener } from './listeners.ts';
export { openSession } from './open-session.ts';
export type { BackpressureAction } from './pacing.ts';
export type { Session, SessionState } from './session.ts';
export type {
  MissingUtterance,
  OfUtterance,
  RefusedAudio,
  SessionEnd,
  SessionEvent,
  SessionEventName,
  SessionEvents,
} from './session-events.ts';
export {
  SESSION_LIMITS,
  SESSION_TIMINGS,
  type SessionLimits,
  type SessionOptions,
  type SessionTimings,
  type Speech,
  type UtteranceOptions,
} from './session-options.ts';
export type { WebSocketConstructor, WebSocketLike } from './socket.ts';
