/** When to try again after a connection was lost or refused. Pure; chance comes in as an argument. */

export interface BackoffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
  /** A connection that was registered this long was good: the next loss starts from the beginning. */
  readonly stableAfterMs: number;
}

export const BACKOFF_LIMITS: BackoffLimits = { firstMs: 250, longestMs: 15_000, stableAfterMs: 5_000 };

/** The close code by which a scheduler says that it restarts. */
export const SERVICE_RESTART = 1012;

export interface Loss {
  readonly code: number;
  /** How long the node had been registered; 0 if it never was. */
  readonly registeredMs: number;
}

export interface NextTry {
  readonly delayMs: number;
  /** To be given back at the next loss. */
  readonly failures: number;
}

/**
 * Full jitter: anything from nothing to the ceiling, so that a fleet that lost its scheduler does not return as one wave.
 * A restart is not a failure. A connection that is cut right after it opened is one, or such a loop would never slow down.
 */
export function nextTry(
  failures: number,
  loss: Loss,
  chance: number,
  limits: BackoffLimits = BACKOFF_LIMITS,
): NextTry {
  const isFresh = loss.code === SERVICE_RESTART || loss.registeredMs >= limits.stableAfterMs;
  const past = isFresh ? 0 : failures;
  // 2 ** 30 is far beyond any ceiling, and safe from overflow.
  const ceilingMs = Math.min(limits.longestMs, limits.firstMs * 2 ** Math.min(past, 30));
  return { delayMs: Math.floor(chance * ceilingMs), failures: past + 1 };
}
