/** The timer wheel against a plain sorted list. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTimerWheel } from '../../../src/runtime/attempts/timer-wheel.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const TICK = 20;

describe('timer wheel', () => {
  it('fires every timer once, at most a tick late, never a cancelled one', async () => {
    const timer = fc.record({
      delayMs: fc.integer({ min: 0, max: 3_000 }),
      cancelAfterMs: fc.option(fc.integer({ min: 0, max: 3_000 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(timer, { maxLength: 40 }), async (timers) => {
        const clock = createManualClock();
        const wheel = createTimerWheel({ clock, tickMs: TICK, slots: 16, onFault: () => {} });
        const start = clock.now();
        const fired = new Map<number, number[]>();
        for (const [id, { delayMs, cancelAfterMs }] of timers.entries()) {
          const handle = wheel.set(delayMs, () =>
            fired.set(id, [...(fired.get(id) ?? []), clock.now() - start]),
          );
          if (cancelAfterMs !== null) clock.after(cancelAfterMs, () => handle.cancel());
        }
        await clock.advance(4_000);
        for (const [id, { delayMs, cancelAfterMs }] of timers.entries()) {
          const times = fired.get(id) ?? [];
          if (cancelAfterMs !== null && cancelAfterMs < delayMs) expect(times).toEqual([]);
          else if (cancelAfterMs === null) expect(times).toHaveLength(1);
          for (const at of times) {
            expect(at).toBeGreaterThanOrEqual(delayMs);
            expect(at).toBeLessThanOrEqual(delayMs + 2 * TICK);
          }
        }
        expect(wheel.size()).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  it('goes on after a timer that throws or cancels others', async () => {
    const clock = createManualClock();
    const faults: unknown[] = [];
    const wheel = createTimerWheel({ clock, tickMs: TICK, onFault: (fault) => faults.push(fault) });
    const fired: string[] = [];
    const doomed = [wheel.set(100, () => fired.push('doomed')), wheel.set(100, () => fired.push('doomed'))];
    wheel.set(100, () => fired.push('last'));
    wheel.set(100, () => {
      throw new Error('x');
    });
    wheel.set(100, () => {
      for (const timer of doomed) timer.cancel();
      fired.push('canceller');
    });
    await clock.advance(200);
    expect(fired).toEqual(['canceller', 'last']);
    expect(faults).toHaveLength(1);
    expect(wheel.size()).toBe(0);
  });

  it('keeps the clock idle while nothing is pending', async () => {
    const clock = createManualClock();
    const wheel = createTimerWheel({ clock, tickMs: TICK, onFault: () => {} });
    wheel.set(50, () => {}).cancel();
    await clock.advance(100);
    expect(clock.pending()).toBe(0);
  });

  it('wakes once a second, and earlier for an earlier timer', async () => {
    const clock = createManualClock();
    let wakings = 0;
    const counted = {
      ...clock,
      after: (delayMs: number, run: () => void) =>
        clock.after(delayMs, () => {
          wakings += 1;
          run();
        }),
    };
    const wheel = createTimerWheel({ clock: counted, tickMs: TICK, onFault: () => {} });
    const fired: number[] = [];
    const start = clock.now();
    for (const delayMs of [15_000, 10_000, 5_000]) wheel.set(delayMs, () => fired.push(clock.now() - start));
    await clock.advance(20_000);
    expect(fired).toEqual([5_000, 10_000, 15_000]);
    expect(wakings).toBe(15);
  });

  it('is at most a second late after the machine slept', async () => {
    const clock = createManualClock();
    const wheel = createTimerWheel({ clock, tickMs: TICK, onFault: () => {} });
    const fired: string[] = [];
    wheel.set(10_000, () => fired.push('due while it slept'));
    wheel.set(70_000, () => fired.push('due after it'));
    await clock.advance(100);
    clock.jump(60_000);
    wheel.set(250, () => fired.push('set after it'));
    await clock.advance(1_000);
    expect(fired).toEqual(['due while it slept', 'set after it']);
    await clock.advance(9_000);
    expect(fired.at(-1)).toBe('due after it');
  });

  it('fires nothing after stop', async () => {
    const clock = createManualClock();
    const wheel = createTimerWheel({ clock, tickMs: TICK, onFault: () => {} });
    const fired: string[] = [];
    wheel.set(100, () => {
      fired.push('first');
      wheel.stop();
      wheel.set(50, () => fired.push('after it'));
    });
    wheel.set(200, () => fired.push('second'));
    await clock.advance(1_000);
    expect(fired).toEqual(['first']);
    expect(clock.pending()).toBe(0);
  });
});
