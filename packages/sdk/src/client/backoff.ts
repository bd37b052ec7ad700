/** When to try again after a connection was lost or refused. Pure; chance comes in as an argument. */

export interface BackoffSettings {
  /** The longest wait before the first try: most losses are short, and somebody is speaking. */
  readonly quickMs: number;
  /** The longest wait before the second try; it doubles with each further one. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** A session that was open this long was good: the next loss starts from the beginning. */
  readonly stableAfterMs: number;
}

export const BACKOFF: BackoffSettings = {
  quickMs: 250,
  firstMs: 500,
  longestMs: 30_000,
  stableAfterMs: 5_000,
};

/** The close code by which a scheduler says that it restarts. */
export const SERVICE_RESTART = 1012;

export interface NextTry {
  readonly delayMs: number;
  /** To be given back at the next loss. */
  readonly failures: number;
}

/**
 * Full jitter: anything from nothing to the ceiling, so that all clients of a lost scheduler do not return as one wave.
 * A restart is no failure. A session that is cut right after it opened is one, or such a loop would never slow down.
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
