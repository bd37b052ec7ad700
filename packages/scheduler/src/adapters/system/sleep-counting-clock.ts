/**
 * Real time that continues while the machine sleeps. The monotonic clock stops then, on Linux and elsewhere: after the sleep an instance
 * would find that no time has passed, and use slots and jobs that belong to other instances by now. See ADR 0065.
 */
import { uptime } from 'node:os';
import type { Clock } from '../../ports/clock.ts';
import { systemClock } from './clock.ts';

/** A smaller difference is drift or the resolution of `uptime`, and no lease is so short. */
const NOTICED_MS = 100;

const HELD_UP_MS = 20;
const MOST_TRIES = 5;

/** The sources that show a sleep. */
export interface SleepSigns {
  /** Cheap to read, but it can be set: a difference here is only a suspicion. */
  wall(): number;
  /** Time since boot, including sleep: it confirms the suspicion. Expensive to read, and it cannot be set. */
  uptimeMs(): number;
}

const REAL_SIGNS: SleepSigns = { wall: Date.now, uptimeMs: () => uptime() * 1_000 };

export function createSleepCountingClock(
  clock: Clock = systemClock,
  { wall, uptimeMs }: SleepSigns = REAL_SIGNS,
): Clock {
  /** How far each source was ahead of the clock at the last check. */
  let wallAhead = wall() - clock.precise();
  let uptimeAhead = aheadOf();
  let sleptMs = 0;

  /** The process may be interrupted between two readings: that is no sleep. */
  function aheadOf(): number {
    for (let tries = 1; ; tries++) {
      const before = clock.precise();
      const up = uptimeMs();
      const after = clock.precise();
      if (after - before < HELD_UP_MS || tries === MOST_TRIES) return up - after;
    }
  }

  /** Its own reading, after earlier sleep has been counted. */
  function read(): number {
    const precise = clock.precise();
    if (Math.abs(wall() - precise - wallAhead) > NOTICED_MS) lookUp();
    return precise + sleptMs;
  }

  function lookUp(): void {
    wallAhead = wall() - clock.precise();
    const ahead = aheadOf();
    // A change of the wall clock does not make time pass.
    if (ahead - uptimeAhead <= NOTICED_MS) return;
    sleptMs += ahead - uptimeAhead;
    uptimeAhead = ahead;
  }

  return { now: () => Math.floor(read()), precise: read, after: clock.after };
}
