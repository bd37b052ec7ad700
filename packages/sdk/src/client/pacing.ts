/**
 * The rate at which audio may be sent: limited by the scheduler's backpressure, and by a rate below the scheduler's
 * limit. Pure.
 */

export interface Pace {
  /** Nothing is sent before. */
  readonly pausedUntil: number;
  /** Until then, at most one frame per SLOW_FRAME_MS. */
  readonly slowUntil: number;
  readonly lastFrameAt: number;
  /** Frames that may be sent immediately, as of `filledAt`. */
  readonly tokens: number;
  readonly filledAt: number;
}

export type BackpressureAction = 'BUSY' | 'PAUSE' | 'SLOW_DOWN';

export const SLOW_FRAME_MS = 500;
/** Used if the scheduler names no duration. */
export const DEFAULT_RESUME_MS = 5_000;
/** A wrong value from the scheduler must not stop a client permanently. */
export const LONGEST_RESUME_MS = 60_000;
/** The scheduler slows down reading above its rate (by default 200 per second, 400 in a burst); this is well below. */
export const FRAMES_PER_SECOND = 100;
export const FRAMES_AT_ONCE = 100;

const NEVER = Number.NEGATIVE_INFINITY;

export const unlimitedPace = (now: number): Pace => ({
  pausedUntil: NEVER,
  slowUntil: NEVER,
  lastFrameAt: NEVER,
  tokens: FRAMES_AT_ONCE,
  filledAt: now,
});

/** Applies a backpressure message. The last message about pausing counts, and the last one about slowing down. */
export function applyBackpressure(
  pace: Pace,
  action: BackpressureAction,
  resumeAfterMs: number | undefined,
  now: number,
): Pace {
  const until = now + Math.min(resumeAfterMs ?? DEFAULT_RESUME_MS, LONGEST_RESUME_MS);
  return action === 'PAUSE' ? { ...pace, pausedUntil: until } : { ...pace, slowUntil: until };
}

/** How long the next frame must wait; 0: it may be sent now. */
export function waitMs(pace: Pace, now: number): number {
  const paused = pace.pausedUntil - now;
  // A slow frame is due after its interval, or when the slow period ends.
  const slowed = Math.min(pace.lastFrameAt + SLOW_FRAME_MS, pace.slowUntil) - now;
  const tokens = tokensAt(pace, now);
  const empty = tokens >= 1 ? 0 : ((1 - tokens) * 1_000) / FRAMES_PER_SECOND;
  return Math.ceil(Math.max(0, paused, slowed, empty));
}

/** A frame was sent. */
export const sent = (pace: Pace, now: number): Pace => ({
  ...pace,
  lastFrameAt: now,
  tokens: tokensAt(pace, now) - 1,
  filledAt: now,
});

/** Keeps the rate but drops the backpressure, which came from another instance. */
export const withoutBackpressure = (pace: Pace): Pace => ({ ...pace, pausedUntil: NEVER, slowUntil: NEVER });

const tokensAt = (pace: Pace, now: number): number =>
  Math.min(FRAMES_AT_ONCE, pace.tokens + ((now - pace.filledAt) * FRAMES_PER_SECOND) / 1_000);
