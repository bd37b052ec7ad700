/** Cold path: long work with pauses in it, in which more urgent work is done (I6). */
import type { Clock } from '../../ports/clock.ts';

/** Runs what says itself where it can be interrupted. */
export async function inSteps<T>(steps: Generator<void, T>, clock: Clock): Promise<T> {
  for (;;) {
    const { value, done } = steps.next();
    if (done === true) return value;
    await pause(clock);
  }
}

export const pause = (clock: Clock): Promise<void> => new Promise((resolve) => clock.after(0, resolve));
