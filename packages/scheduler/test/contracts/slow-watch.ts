/** Contract of SlowWatch: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import { LOCKS, PATHS, type SlowWatch } from '../../src/ports/slow-watch.ts';
import { type Closable, perTest } from './harness.ts';

export interface SlowWatchHarness extends Closable {
  readonly watch: SlowWatch;
  advance(ms: number): Promise<void>;
  /** The count of a name. */
  counted(name: string): number;
  /** The fields and the message of each log line, oldest first. */
  logged(): readonly Readonly<Record<string, unknown>>[];
}

export function slowWatchContract(
  name: string,
  open: (settings: { lockWaitWarnMs: number; pathWarnMs: number }) => Promise<SlowWatchHarness>,
): void {
  describe(`SlowWatch: ${name}`, () => {
    const start = perTest(() => open({ lockWaitWarnMs: 10, pathWarnMs: 50 }));
    const startOff = perTest(() => open({ lockWaitWarnMs: 0, pathWarnMs: 0 }));

    it('neither logs nor counts below its two thresholds', async () => {
      const { watch, counted, logged } = await start();
      watch.waited('session_mailbox', 9.9);
      watch.took('dispatch', 49.9);
      watch.took('dispatch', 10);
      expect([counted('session_mailbox'), counted('dispatch'), logged().length]).toEqual([0, 0, 0]);
    });

    it('counts each slow operation and logs its name, cause, duration and threshold', async () => {
      const { watch, counted, logged } = await start();
      watch.waited('event_loop', 10);
      watch.took('heartbeat', 60.26);
      expect([counted('event_loop'), counted('heartbeat')]).toEqual([1, 1]);
      expect(logged()[0]?.message).toMatch(/^slow wait: .* held the CPU$/);
      expect(logged()).toMatchObject([
        { lock: 'event_loop', count: 1, worst_ms: 10, threshold_ms: 10 },
        { path: 'heartbeat', count: 1, worst_ms: 60.3, threshold_ms: 50 },
      ]);
    });

    it('logs one line per minute and name, with the number and the slowest since', async () => {
      const { watch, counted, logged, advance } = await start();
      for (let at = 0; at < 500; at += 1) {
        watch.took('result', 100);
        if (at % 2 === 0) watch.took('dispatch', 100);
      }
      expect(logged()).toHaveLength(2);
      await advance(59_999);
      watch.took('result', 170);
      expect(logged()).toHaveLength(2);
      await advance(1);
      watch.took('result', 100);
      expect(logged()).toHaveLength(3);
      expect(logged().at(-1)).toMatchObject({ path: 'result', count: 501, worst_ms: 170 });
      expect(counted('result')).toBe(502);
      expect(counted('dispatch')).toBe(250);
      await advance(60_001);
      watch.took('result', 100);
      await advance(60_001);
      watch.took('result', 100);
      expect(logged().at(-1)).toMatchObject({ path: 'result', count: 2, worst_ms: 100 });
    });

    it('a day of slow waits is 30 lines, and the next ones after a quiet hour are news', async () => {
      const { watch, logged, advance } = await start();
      for (let second = 0; second < 24 * 3_600; second += 2) {
        watch.waited('event_loop', 12);
        await advance(2_000);
      }
      expect(logged().length).toBeLessThan(32);
      const before = logged().length;
      await advance(3_600_000);
      watch.waited('event_loop', 12);
      await advance(60_000);
      watch.waited('event_loop', 12);
      expect(logged()).toHaveLength(before + 2);
    });

    it('a threshold of 0 turns its half off', async () => {
      const { watch, logged } = await startOff();
      for (const lock of LOCKS) watch.waited(lock, 1e9);
      for (const path of PATHS) watch.took(path, 1e9);
      expect(logged()).toEqual([]);
    });

    it('ignores durations that are no numbers', async () => {
      const { watch, logged } = await start();
      watch.waited('session_mailbox', Number.NaN);
      watch.took('dispatch', -5);
      expect(logged()).toEqual([]);
    });
  });
}
