/** A clock that tests step. Timers run in the order of their times. */
import type { SessionClock } from '../../../src/client/index.ts';

export interface ManualClock extends SessionClock {
  /** Advances the time and runs the timers that become due. */
  advance(ms: number): void;
  /** Advances the time as on a sleeping machine: due timers run late. */
  sleep(ms: number): void;
  /** Delays of the pending timers, shortest first. */
  waiting(): number[];
}

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export function createManualClock(start = 1_700_000_000_000): ManualClock {
  let now = start;
  let timers: Timer[] = [];

  function runDue(until: number): void {
    for (;;) {
      const due = timers
        .filter(({ at }) => at <= until)
        .reduce<Timer | undefined>(
          (first, each) => (first === undefined || each.at < first.at ? each : first),
          undefined,
        );
      if (due === undefined) return;
      timers = timers.filter((timer) => timer !== due);
      now = Math.max(now, due.at);
      due.run();
    }
  }

  return {
    now: () => now,
    after(delayMs, run) {
      const timer = { at: now + delayMs, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    advance(ms) {
      const end = now + ms;
      runDue(end);
      now = end;
    },
    sleep(ms) {
      now += ms;
      runDue(now);
    },
    waiting: () => timers.map(({ at }) => at - now).sort((a, b) => a - b),
  };
}
