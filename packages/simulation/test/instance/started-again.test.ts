/** A driver that is killed and started again under its own name while its name is still taken: what nodes of others said meanwhile is heard. */
import { expect, it } from 'vitest';
import { JOBS, startDriverAndHolder } from './driver-and-holder.ts';

/** Of one that was killed right after it had renewed it, and until its next life looks again. */
const NAME_IS_TAKEN_MS = 4_500;
const DOWN_MS = 1_000;
/** Far less than a message that could not be handled lies until it comes again. */
const HEARD_MS = 500;

it.each([0, 500, 1_000, 1_500, 2_000])(
  'hears of its jobs as soon as it is there, killed %i ms after they were sent',
  async (afterMs) => {
    const { pass, start, dispatchAll, kill, finishAll, translations, assigned } =
      await startDriverAndHolder();
    await dispatchAll();
    await pass(afterMs);
    kill();
    finishAll();
    await pass(DOWN_MS);
    start('driver');
    await pass(NAME_IS_TAKEN_MS - DOWN_MS + HEARD_MS);
    expect(await translations()).toEqual(Array.from({ length: JOBS }, () => 'hallo'));
    expect(assigned()).toHaveLength(JOBS);
  },
);
