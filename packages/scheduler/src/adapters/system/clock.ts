/** Real time. */
import type { Clock } from '../../ports/clock.ts';

const MAX_DELAY_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: Date.now,
  after(delayMs, run) {
    // Timers never keep the process alive: the server's sockets do, and a drained server should end.
    const timer = setTimeout(run, Math.min(Math.max(delayMs, 0), MAX_DELAY_MS)).unref();
    return () => clearTimeout(timer);
  },
};
