/** Delay before the next try after a connection was lost or refused. Pure; randomness is an argument. */

export interface BackoffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
  /** After a connection was registered this long, the next loss starts from the first delay. */
  readonly stableAfterMs: number;
}

export const BACKOFF_LIMITS: BackoffLimits = { firstMs: 250, longestMs: 15_000, stableAfterMs: 5_000 };

/** The close code of a scheduler that restarts. */
export const SERVICE_RESTART = 1012;

export interface Loss {
  readonly code: number;
  /** How long the node was registered; 0 if it never was. */
  readonly registeredMs: number;
}

export interface NextTry {
  readonly delayMs: number;
  /** Pass it to the next call. */
  readonly failures: number;
}

/**
 * Full jitter: a random delay up to the limit, so that the nodes of a lost scheduler do not all return at once. A
 * restart does not count as a failure. A connection that is cut right after it opened does, otherwise such a loop
 * would never slow down.
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
