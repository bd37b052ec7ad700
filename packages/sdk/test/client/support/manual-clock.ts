/** A clock that tests step. Timers run in the order of their times. */
import type { SessionClock } from '../../../src/client/index.ts';

export interface ManualClock extends SessionClock {
  /** Lets time pass, running what falls due on the way. */
  advance(ms: number): void;
  /** Lets time pass as on a machine that sleeps: what fell due runs late. */
  sleep(ms: number): void;
  /** Delays of the timers that wait, shortest first. */
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
