/** A driver that dies for good: what it drove has gone on within two lives of a presence after its own ended. */
import { expect, it } from 'vitest';
import { JOBS, startDriverAndHolder } from './driver-and-holder.ts';

/** As settings come. */
const PRESENCE_TTL_MS = 4_000;

it.each([0, 700, 1_400, 2_000])(
  'its jobs have their outcomes in time, though they came when nobody drove them, killed %i ms after they were sent',
  async (afterMs) => {
    const { pass, dispatchAll, kill, finishAll, translations, assigned } = await startDriverAndHolder();
    await dispatchAll();
    await pass(afterMs);
    kill();
    finishAll();
    // Its presence ends after one life at the latest.
    await pass(2 * PRESENCE_TTL_MS);
    expect(await translations()).toEqual(Array.from({ length: JOBS }, () => 'hallo'));
    expect(assigned()).toHaveLength(JOBS);
  },
);
