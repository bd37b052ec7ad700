/** Cold path: waits for something, but no longer than a limit. */
import type { Clock } from '../../ports/clock.ts';

export const atMost = (clock: Clock, limitMs: number, whenDone: (done: () => void) => void): Promise<void> =>
  new Promise((resolve) => {
    const cancel = clock.after(limitMs, resolve);
    whenDone(() => {
      cancel();
      resolve();
    });
  });
