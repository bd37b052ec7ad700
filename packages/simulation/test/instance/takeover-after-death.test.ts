/** A driver that dies for good: its jobs continue within two presence TTLs after its death. */
import { expect, it } from 'vitest';
import { JOBS, startDriverAndHolder } from './driver-and-holder.ts';

/** With default settings. */
const PRESENCE_TTL_MS = 4_000;

it.each([0, 700, 1_400, 2_000])(
  'a survivor finishes jobs of a driver killed %i ms after sending them',
  async (afterMs) => {
    const { pass, dispatchAll, kill, finishAll, translations, assigned } = await startDriverAndHolder();
    await dispatchAll();
    await pass(afterMs);
    kill();
    finishAll();
    // Its presence ends after one TTL at the latest.
    await pass(2 * PRESENCE_TTL_MS);
    expect(await translations()).toEqual(Array.from({ length: JOBS }, () => 'hallo'));
    expect(assigned()).toHaveLength(JOBS);
  },
);
