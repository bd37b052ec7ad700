/** Contract of SlowWatch: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import { LOCKS, PATHS, type SlowWatch } from '../../src/ports/slow-watch.ts';
import { type Closable, perTest } from './harness.ts';

export interface SlowWatchHarness extends Closable {
  readonly watch: SlowWatch;
  advance(ms: number): Promise<void>;
  /** What was counted under a name. */
  counted(name: string): number;
  /** The fields of each line in the log, oldest first. */
  said(): readonly Readonly<Record<string, unknown>>[];
}

export function slowWatchContract(
  name: string,
  open: (settings: { lockWaitWarnMs: number; pathWarnMs: number }) => Promise<SlowWatchHarness>,
): void {
  describe(`SlowWatch: ${name}`, () => {
    const start = perTest(() => open({ lockWaitWarnMs: 10, pathWarnMs: 50 }));
    const startOff = perTest(() => open({ lockWaitWarnMs: 0, pathWarnMs: 0 }));

    it('says and counts nothing below the thresholds, which are two', async () => {
      const { watch, counted, said } = await start();
      watch.waited('session_mailbox', 9.9);
      watch.took('dispatch', 49.9);
      watch.took('dispatch', 10);
      expect([counted('session_mailbox'), counted('dispatch'), said().length]).toEqual([0, 0, 0]);
    });

    it('counts each slow one under its name and says what, how long and how long would be fine', async () => {
      const { watch, counted, said } = await start();
      watch.waited('event_loop', 10);
      watch.took('heartbeat', 60.26);
      expect([counted('event_loop'), counted('heartbeat')]).toEqual([1, 1]);
      expect(said()).toMatchObject([
        { lock: 'event_loop', wait_ms: 10, threshold_ms: 10, suppressed: 0 },
        { path: 'heartbeat', took_ms: 60.3, threshold_ms: 50, suppressed: 0 },
      ]);
    });

    it('says at most one a second of each name, and with it how many it did not; it counts them all', async () => {
      const { watch, counted, said, advance } = await start();
      for (let at = 0; at < 500; at += 1) {
        watch.took('result', 100);
        if (at % 2 === 0) watch.took('dispatch', 100);
      }
      expect(said()).toHaveLength(2);
      await advance(999);
      watch.took('result', 100);
      expect(said()).toHaveLength(2);
      await advance(1);
      watch.took('result', 100);
      expect(said()).toHaveLength(3);
      expect(said().at(-1)).toMatchObject({ path: 'result', suppressed: 500 });
      expect(counted('result')).toBe(502);
      expect(counted('dispatch')).toBe(250);
      await advance(1_000);
      watch.took('result', 100);
      expect(said().at(-1)).toMatchObject({ path: 'result', suppressed: 0 });
    });

    it('is off at 0, each half by itself', async () => {
      const { watch, said } = await startOff();
      for (const lock of LOCKS) watch.waited(lock, 1e9);
      for (const path of PATHS) watch.took(path, 1e9);
      expect(said()).toEqual([]);
    });

    it('takes no harm from what is no time', async () => {
      const { watch, said } = await start();
      watch.waited('session_mailbox', Number.NaN);
      watch.took('dispatch', -5);
      expect(said()).toEqual([]);
    });
  });
}
