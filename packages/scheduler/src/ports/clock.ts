/** Port: time. Everything that waits, waits through this, so that tests and the simulator can step it. */

export type Cancel = () => void;

export interface Clock {
  /** Epoch milliseconds, whole. Never goes back, whatever an operator does to the wall clock. */
  now(): number;
  /** The same time with its fraction, as fine as the machine tells it: to measure with. `now()` is this without it. */
  precise(): number;
  /** Runs once, not before `delayMs` have passed, unless cancelled. Never runs inside `after` itself. */
  after(delayMs: number, run: () => void): Cancel;
}
