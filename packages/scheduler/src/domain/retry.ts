/** Repeats a call that failed until it succeeds, is no longer wanted, or has been tried often enough. */
import { sleep, type Timer } from './with-timeout.ts';

export interface RetryOptions {
  /** Between the end of a failed try and the next one. */
  readonly delayMs: number;
  /** Tries in all; unlimited if absent. The last failure is thrown. */
  readonly maxTries?: number;
  /** Called before each further try. False: the call is no longer wanted, and `retry` resolves with undefined. */
  readonly isWanted?: () => boolean;
  /** Called for every failed try. */
  readonly onFailed?: (fault: unknown, tries: number) => void;
}

export async function retry<T>(
  timer: Timer,
  options: RetryOptions,
  call: () => Promise<T>,
): Promise<T | undefined> {
  const { delayMs, maxTries = Number.POSITIVE_INFINITY, isWanted = () => true, onFailed } = options;
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (fault) {
      onFailed?.(fault, tries);
      if (tries >= maxTries) throw fault;
    }
    await sleep(timer, delayMs);
    if (!isWanted()) return undefined;
  }
}
