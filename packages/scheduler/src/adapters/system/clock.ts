/** Real time. */
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../ports/clock.ts';

const MAX_DELAY_MS = 2_147_483_647;

/** The epoch as it was when the process began, carried on by a clock nobody can set: deadlines survive a clock change. */
const origin = performance.timeOrigin;

export const systemClock: Clock = {
  now: () => Math.floor(origin + performance.now()),
  precise: () => origin + performance.now(),
  after(delayMs, run) {
    // Timers never keep the process alive: the server's sockets do, and a drained server should end.
    // One more millisecond, because the timers of Node.js count whole ones and may be a fraction early.
    const timer = setTimeout(run, Math.min(Math.max(delayMs, 0) + 1, MAX_DELAY_MS)).unref();
    return () => clearTimeout(timer);
  },
};
