/** How fast audio may leave: what the scheduler asked for by backpressure, and a rate it never has to ask for. Pure. */

export interface Pace {
  /** Nothing leaves before. */
  readonly pausedUntil: number;
  /** Until then at most one frame per SLOW_FRAME_MS. */
  readonly slowUntil: number;
  readonly lastFrameAt: number;
  /** Frames that may leave at once, as of `filledAt`. */
  readonly tokens: number;
  readonly filledAt: number;
}

export type BackpressureAction = 'BUSY' | 'PAUSE' | 'SLOW_DOWN';

export const SLOW_FRAME_MS = 500;
/** If the scheduler does not say how long. */
export const DEFAULT_RESUME_MS = 5_000;
/** A mistake of the scheduler must not silence a client for good. */
export const LONGEST_RESUME_MS = 60_000;
/** The scheduler reads more slowly what exceeds its rate (200 a second, 400 at once, by default); stay well below. */
export const FRAMES_PER_SECOND = 100;
export const FRAMES_AT_ONCE = 100;

const NEVER = Number.NEGATIVE_INFINITY;

export const freely = (now: number): Pace => ({
  pausedUntil: NEVER,
  slowUntil: NEVER,
  lastFrameAt: NEVER,
  tokens: FRAMES_AT_ONCE,
  filledAt: now,
});

/** The scheduler asked for less. Its last word about pausing counts, and so does its last word about slowing down. */
export function press(
  pace: Pace,
  action: BackpressureAction,
  resumeAfterMs: number | undefined,
  now: number,
): Pace {
  const until = now + Math.min(resumeAfterMs ?? DEFAULT_RESUME_MS, LONGEST_RESUME_MS);
  return action === 'PAUSE' ? { ...pace, pausedUntil: until } : { ...pace, slowUntil: until };
}

/** How long the next frame has to wait; 0 if it may leave now. */
export function waitMs(pace: Pace, now: number): number {
  const paused = pace.pausedUntil - now;
  // A slow frame is due at its time, or when the time to be slow is over.
  const slowed = Math.min(pace.lastFrameAt + SLOW_FRAME_MS, pace.slowUntil) - now;
  const tokens = tokensAt(pace, now);
  const empty = tokens >= 1 ? 0 : ((1 - tokens) * 1_000) / FRAMES_PER_SECOND;
  return Math.ceil(Math.max(0, paused, slowed, empty));
}

/** A frame has left. */
export const sent = (pace: Pace, now: number): Pace => ({
  ...pace,
  lastFrameAt: now,
  tokens: tokensAt(pace, now) - 1,
  filledAt: now,
});

/** The same rate, but nothing asked for any more: another instance never asked. */
export const eased = (pace: Pace): Pace => ({ ...pace, pausedUntil: NEVER, slowUntil: NEVER });

const tokensAt = (pace: Pace, now: number): number =>
  Math.min(FRAMES_AT_ONCE, pace.tokens + ((now - pace.filledAt) * FRAMES_PER_SECOND) / 1_000);
