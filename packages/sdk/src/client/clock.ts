/** Time as a session sees it: it never goes back, and a timer can be called off. Tests bring their own. */

export type Cancel = () => void;

export interface SessionClock {
  /** Epoch ms. */
  now(): number;
  after(delayMs: number, run: () => void): Cancel;
}

export const systemClock: SessionClock = {
  // Date.now() follows whoever sets the clock of the machine; a pause must not last an hour because of that.
  now: () => Math.round(performance.timeOrigin + performance.now()),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
