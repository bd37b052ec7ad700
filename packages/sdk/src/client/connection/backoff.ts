/** Delay before the next try after a connection was lost or refused. Pure; randomness is an argument. */

export interface BackoffSettings {
  /** Upper limit of the delay before the first try: most losses are short, and a user may be speaking. */
  readonly quickMs: number;
  /** Upper limit of the delay before the second try; it doubles with each further one. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** After a session was open this long, the next loss starts from the first delay. */
  readonly stableAfterMs: number;
}

export const BACKOFF: BackoffSettings = {
  quickMs: 250,
  firstMs: 500,
  longestMs: 30_000,
  stableAfterMs: 5_000,
};

/** The close code of a scheduler that restarts. */
export const SERVICE_RESTART = 1012;

export interface NextTry {
  readonly delayMs: number;
  /** Pass it to the next call. */
  readonly failures: number;
}

/**
 * Full jitter: a random delay up to the limit, so that the clients of a lost scheduler do not all return at once. A
 * restart does not count as a failure. A session that is cut right after it opened does, otherwise such a loop would
 * never slow down.
 */
export function nextTry(
  failures: number,
  loss: { readonly code: number; readonly openMs: number },
  chance: number,
  settings: BackoffSettings = BACKOFF,
): NextTry {
  const isFresh = loss.code === SERVICE_RESTART || loss.openMs >= settings.stableAfterMs;
  const past = isFresh ? 0 : failures;
  // 2 ** 30 is far beyond any ceiling, and safe from overflow.
  const grown = settings.firstMs * 2 ** Math.min(past - 1, 30);
  const ceilingMs = past === 0 ? settings.quickMs : Math.min(settings.longestMs, grown);
  return { delayMs: Math.floor(chance * ceilingMs), failures: past + 1 };
}
