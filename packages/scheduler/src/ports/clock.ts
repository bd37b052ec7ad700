/** Port: time. All waiting goes through this port, so that tests and the simulator can step it. */

export type Cancel = () => void;

export interface Clock {
  /** Epoch milliseconds, whole. Never goes back, even if the wall clock is set. */
  now(): number;
  /** The same time with its fraction, at the resolution of the machine, for measurements. `now()` is its whole part. */
  precise(): number;
  /** Runs once, not before `delayMs` have passed, unless cancelled. Never runs inside `after` itself. */
  after(delayMs: number, run: () => void): Cancel;
}
