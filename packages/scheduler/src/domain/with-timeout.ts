/** Waiting on a clock that tests and the simulator can step: for a time, or for an answer with a limit. */
import { SchedulerError } from './errors.ts';

/**
 * A value now or later. On the hot path a port in memory returns the value itself, because awaiting a promise costs more than most
 * decisions; a port over the network returns a promise. Callers accept both.
 */
export type MaybePromise<T> = T | Promise<T>;

/** The part of the clock that these functions need. */
export interface Timer {
  after(delayMs: number, run: () => void): () => void;
}

export const sleep = (timer: Timer, delayMs: number): Promise<void> =>
  new Promise((resolve) => timer.after(delayMs, resolve));

/** Rejects with SCHEDULER_DEPENDENCY_DOWN at the limit. The call goes on, and its late answer is dropped. */
export function withTimeout<T>(
  timer: Timer,
  limitMs: number,
  what: string,
  call: () => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = timer.after(limitMs, () =>
      reject(new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', `no answer within ${limitMs} ms: ${what}`)),
    );
    call().then(resolve, reject).finally(cancel);
  });
}
