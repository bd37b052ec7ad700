/** Contract of Clock: its law as tests, for the real clock and for stepped clocks. */
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/ports/clock.ts';
import { type Closable, edgeOf, holdsBefore, isPending, perTest, type Timed } from './harness.ts';

export interface ClockHarness extends Timed, Closable {
  readonly clock: Clock;
}

export function clockContract(name: string, open: () => Promise<ClockHarness>): void {
  describe(`Clock: ${name}`, () => {
    const start = perTest(open);

    it('has whole milliseconds that never go back', async () => {
      const { clock, advance } = await start();
      const before = clock.now();
      expect(Number.isInteger(before)).toBe(true);
      await advance(20);
      expect(clock.now() - before).toBeGreaterThanOrEqual(20);
      let last = before;
      for (let read = 0; read < 1_000; read += 1) {
        expect(clock.now()).toBeGreaterThanOrEqual(last);
        last = clock.now();
      }
    });

    it('has the same time with its fraction, which never goes back', async () => {
      const { clock, advance } = await start();
      const begun = clock.precise();
      for (let read = 0, last = begun; read < 1_000; read += 1) {
        const before = clock.now();
        const precise = clock.precise();
        expect(Math.floor(precise)).toBeGreaterThanOrEqual(before);
        expect(Math.floor(precise)).toBeLessThanOrEqual(clock.now());
        expect(precise).toBeGreaterThanOrEqual(last);
        last = precise;
      }
      await advance(20);
      expect(clock.precise() - begun).toBeGreaterThanOrEqual(20);
    });

    it('runs a callback once, not before the delay', async () => {
      const harness = await start();
      const { clock, advance } = harness;
      let runs = 0;
      const begunAt = performance.now();
      clock.after(300, () => {
        runs += 1;
      });
      await advance(300 - edgeOf(harness));
      await holdsBefore(harness, begunAt, 300, async () => expect(runs).toBe(0));
      await advance(edgeOf(harness));
      expect(runs).toBe(1);
      await advance(100);
      expect(runs).toBe(1);
    });

    it('never runs inside after, not even without a delay', async () => {
      const { clock, advance } = await start();
      for (const delayMs of [0, -5]) {
        let isRun = false;
        clock.after(delayMs, () => {
          isRun = true;
        });
        expect(isRun).toBe(false);
        await advance(10);
        expect(isRun).toBe(true);
      }
    });

    it('does not run a cancelled callback; cancelling twice is harmless', async () => {
      const { clock, advance } = await start();
      const ran: string[] = [];
      const cancel = clock.after(20, () => ran.push('cancelled'));
      const late = clock.after(20, () => ran.push('late'));
      cancel();
      cancel();
      await advance(30);
      late();
      expect(ran).toEqual(['late']);
    });

    it('lets a callback cancel another of the same instant', async () => {
      const { clock, advance } = await start();
      const ran: number[] = [];
      const cancels = [0, 1].map((index) =>
        clock.after(20, () => {
          ran.push(index);
          cancels[1 - index]?.();
        }),
      );
      await advance(40);
      expect(ran).toHaveLength(1);
    });

    it('runs callbacks in the order of their instants', async () => {
      const { clock, advance } = await start();
      const ran: number[] = [];
      for (const delayMs of [90, 10, 50]) clock.after(delayMs, () => ran.push(delayMs));
      await advance(100);
      expect(ran).toEqual([10, 50, 90]);
    });

    it('runs callbacks that a callback has scheduled, at their time', async () => {
      const { clock, advance } = await start();
      const begun = clock.now();
      let ranAt = 0;
      const done = new Promise<void>((resolve) => {
        clock.after(30, () =>
          clock.after(30, () => {
            ranAt = clock.now();
            resolve();
          }),
        );
      });
      await advance(80);
      // A real timer that was late for the first is late for the second.
      for (let more = 0; more < 50 && (await isPending(done)); more += 1) await advance(30);
      expect(await isPending(done)).toBe(false);
      expect(ranAt - begun).toBeGreaterThanOrEqual(60);
    });

    it('supports delays longer than the timers of Node.js', async () => {
      const { clock, advance } = await start();
      let isRun = false;
      const cancel = clock.after(2 ** 31 + 1_000, () => {
        isRun = true;
      });
      await advance(20);
      expect(isRun).toBe(false);
      cancel();
    });
  });
}
