/** A clock that tests step. Timers run in the order of their times, and the work of each one settles before the next. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../src/ports/clock.ts';

export interface ManualClock extends Clock {
  /** Advances by `ms` and runs everything that becomes due. */
  advance(ms: number): Promise<void>;
  /** Sets the time, like an operator. Timers are not affected: they wait for time to pass. */
  jump(ms: number): void;
  /** Timers that wait. */
  pending(): number;
}

export function createManualClock(start = 1_700_000_000_000): ManualClock {
  let passed = 0;
  let offset = start;
  let lastOrder = 0;
  const timers = new Map<number, { at: number; run: () => void }>();

  /** The earliest that is due by then; equal times keep the order in which they were set. */
  function takeDue(until: number): { at: number; run: () => void } | undefined {
    let found: number | undefined;
    for (const [order, { at }] of timers) {
      if (at <= until && (found === undefined || at < (timers.get(found)?.at ?? 0))) found = order;
    }
    if (found === undefined) return undefined;
    const timer = timers.get(found);
    timers.delete(found);
    return timer;
  }

  return {
    now: () => offset + passed,
    precise: () => offset + passed,

    after(delayMs, run) {
      lastOrder += 1;
      const order = lastOrder;
      timers.set(order, { at: passed + Math.max(0, delayMs), run });
      return () => {
        timers.delete(order);
      };
    },

    async advance(ms) {
      const end = passed + ms;
      await nextTurn();
      for (let timer = takeDue(end); timer !== undefined; timer = takeDue(end)) {
        passed = Math.max(passed, timer.at);
        timer.run();
        await nextTurn();
      }
      passed = end;
    },

    jump(ms) {
      offset += ms;
    },

    pending: () => timers.size,
  };
}
