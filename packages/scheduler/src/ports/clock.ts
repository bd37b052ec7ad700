/** Port: time. Everything that waits, waits through this, so that tests and the simulator can step it. */

export type Cancel = () => void;

export interface Clock {
  /** Epoch milliseconds, whole. Never goes back, whatever an operator does to the wall clock. */
  now(): number;
  /** Runs once, not before `delayMs` have passed, unless cancelled. Never runs inside `after` itself. */
  after(delayMs: number, run: () => void): Cancel;
}
