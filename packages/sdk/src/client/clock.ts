/** The clock of a session: monotonic, with cancellable timers. Tests pass their own. */

export type Cancel = () => void;

export interface SessionClock {
  /** Epoch ms. */
  now(): number;
  after(delayMs: number, run: () => void): Cancel;
}

export const systemClock: SessionClock = {
  // Date.now() jumps when the machine's clock is set; a pause must not last an hour because of that.
  now: () => Math.round(performance.timeOrigin + performance.now()),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
