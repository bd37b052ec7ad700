/** The time of a machine’s sleep counts as passed; a change of the wall clock does not. */
import { describe, expect, it } from 'vitest';
import { createSleepCountingClock } from '../../../src/adapters/system/sleep-counting-clock.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const BEGUN = 1_700_000_000_000;

function startClock() {
  const base = createManualClock(BEGUN);
  const [signs, reads] = [{ slept: 0, set: 0 }, { uptime: 0 }];
  /** How long the process is interrupted after each reading of the uptime. */
  const heldUp: number[] = [];
  const clock = createSleepCountingClock(base, {
    wall: () => base.now() + signs.slept + signs.set,
    uptimeMs() {
      reads.uptime += 1;
      const up = 76_000_000 + base.now() - BEGUN + signs.slept;
      base.jump(heldUp.shift() ?? 0);
      return up;
    },
  });
  return { base, signs, reads, heldUp, clock, passed: () => clock.now() - BEGUN };
}

describe('a clock that counts sleep', () => {
  it('adds the sleep at the first reading after it', () => {
    const { signs, clock, passed } = startClock();
    signs.slept += 9_000;
    expect(passed()).toBe(9_000);
    signs.slept += 500;
    expect(Math.floor(clock.precise())).toBe(clock.now());
    expect(passed()).toBe(9_500);
  });

  it.each([3_600_000, -3_600_000])('ignores a change of the wall clock by %i ms', (by) => {
    const { signs, passed } = startClock();
    signs.set += by;
    expect(passed()).toBe(0);
    signs.slept += 4_000;
    expect(passed()).toBe(4_000);
  });

  it('adds the sleep even if the wall clock was set back', () => {
    const { signs, passed } = startClock();
    signs.slept += 20_000;
    signs.set -= 5_000;
    expect(passed()).toBe(20_000);
  });

  it('adds each sleep once', async () => {
    const { base, signs, passed } = startClock();
    signs.slept += 1_000;
    expect(passed()).toBe(1_000);
    await base.advance(250);
    expect([passed(), passed()]).toEqual([1_250, 1_250]);
  });

  it('does not count an interrupted process as sleep', () => {
    const { base, signs, heldUp, passed } = startClock();
    signs.set += 1_000;
    heldUp.push(500, 500);
    expect(passed()).toBe(0);
    expect(heldUp).toEqual([]);
    signs.set += 1_000;
    expect(passed()).toBe(base.now() - BEGUN);
  });

  it('reads the expensive source only on suspicion', async () => {
    const { base, signs, reads, clock } = startClock();
    for (let times = 0; times < 100; times += 1) {
      await base.advance(10);
      clock.now();
      clock.precise();
    }
    expect(reads.uptime).toBe(1);
    signs.slept += 1_000;
    clock.now();
    clock.now();
    expect(reads.uptime).toBe(2);
  });

  it('does not add sleep to timers', async () => {
    const { base, signs, clock } = startClock();
    let isDue = false;
    clock.after(100, () => {
      isDue = true;
    });
    signs.slept += 1_000;
    await base.advance(99);
    expect(isDue).toBe(false);
    await base.advance(1);
    expect(isDue).toBe(true);
  });
});
