/** The client SDK: sends speech and receives translations over connections that may break. For browsers and Node.js. */
export type {
  FeatureFlags,
  MissingResult,
  Pipeline,
  SessionAsrPartial,
  TranslationResult,
  UiEvent,
} from '@lingua/protocol';
export type { Cancel, SessionClock } from './clock.ts';
export { BACKOFF, type BackoffSettings } from './connection/backoff.ts';
export type { Fetch } from './connection/find-cause.ts';
export type { WebSocketConstructor, WebSocketLike } from './connection/socket.ts';
export type { Listener } from './listeners.ts';
export { openSession } from './open-session.ts';
export type { BackpressureAction } from './pacing.ts';
export type { Original, OriginalElement } from './rooms/originals.ts';
export {
  type CreateOptions,
  type Hearing,
  type JoinOptions,
  type Person,
  type Room,
  type RoomEventName,
  type RoomEvents,
  type RoomListener,
  RoomRefused,
  type RoomRole,
  type Rooms,
  type SignalKind,
} from './rooms/room.ts';
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
export type { LatencyFigures, LatencyPart, SessionStats } from './session-stats.ts';
