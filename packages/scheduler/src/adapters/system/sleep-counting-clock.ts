/**
 * Real time that goes on while the machine sleeps. The clock that nobody can set stands still then, on Linux and elsewhere: an
 * instance would wake, find that no time has passed, and use slots and jobs that others have by now. See ADR 0065.
 */
import { uptime } from 'node:os';
import type { Clock } from '../../ports/clock.ts';
import { systemClock } from './clock.ts';

/** Less is drift, or the grain of `uptime`; and nothing is held for so short a time. */
const NOTICED_MS = 100;

const HELD_UP_MS = 20;
const MOST_TRIES = 5;

/** What tells of sleep. */
export interface SleepSigns {
  /** Cheap to read, and anybody may set it: it raises a doubt. */
  wall(): number;
  /** Since the machine began, sleep included: it settles the doubt. Dear to read, and nobody can set it. */
  uptimeMs(): number;
}

const REAL_SIGNS: SleepSigns = { wall: Date.now, uptimeMs: () => uptime() * 1_000 };

export function createSleepCountingClock(
  clock: Clock = systemClock,
  { wall, uptimeMs }: SleepSigns = REAL_SIGNS,
): Clock {
  /** By how much each is ahead of the clock, as last seen. */
  let wallAhead = wall() - clock.precise();
  let uptimeAhead = aheadOf();
  let sleptMs = 0;

  /** A process may be held up between two readings: that is no sleep. */
  function aheadOf(): number {
    for (let tries = 1; ; tries++) {
      const before = clock.precise();
      const up = uptimeMs();
      const after = clock.precise();
      if (after - before < HELD_UP_MS || tries === MOST_TRIES) return up - after;
    }
  }

  /** Its own reading, after whatever was slept before it has been counted. */
  function read(): number {
    const precise = clock.precise();
    if (Math.abs(wall() - precise - wallAhead) > NOTICED_MS) lookUp();
    return precise + sleptMs;
  }

  function lookUp(): void {
    wallAhead = wall() - clock.precise();
    const ahead = aheadOf();
    // Someone who set the wall clock has not made time pass.
    if (ahead - uptimeAhead <= NOTICED_MS) return;
    sleptMs += ahead - uptimeAhead;
    uptimeAhead = ahead;
  }

  return { now: () => Math.floor(read()), precise: read, after: clock.after };
}
