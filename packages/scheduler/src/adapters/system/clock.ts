/** Real time. */
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../ports/clock.ts';

const MAX_DELAY_MS = 2_147_483_647;

/** The epoch at the start of the process, continued by the monotonic clock: deadlines survive a change of the wall clock. */
const origin = performance.timeOrigin;

export const systemClock: Clock = {
  now: () => Math.floor(origin + performance.now()),
  precise: () => origin + performance.now(),
  after(delayMs, run) {
    // Timers do not keep the process alive: the sockets of the server do, and a drained server should end. One more millisecond, because
    // timers of Node.js have whole milliseconds and may fire a fraction early.
    const timer = setTimeout(run, Math.min(Math.max(delayMs, 0) + 1, MAX_DELAY_MS)).unref();
    return () => clearTimeout(timer);
  },
};
