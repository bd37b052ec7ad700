/** Waits for a condition instead of a length of time. */
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 5;

/** Tries until the check neither throws nor returns undefined or false; after the limit its last error is thrown. */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { withinMs = 60_000 }: { readonly withinMs?: number } = {},
): Promise<Exclude<T, undefined | false>> {
  const until = Date.now() + withinMs;
  let complaint: unknown = new Error('the condition never held');
  do {
    try {
      const value = await check();
      if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    } catch (error) {
      complaint = error;
    }
    await sleep(PAUSE_MS);
  } while (Date.now() < until);
  throw complaint;
}
