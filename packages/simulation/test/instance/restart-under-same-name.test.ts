/**
 * A driver that is killed and restarted under its own name while its old presence still exists: it receives the reports that other
 * instances sent meanwhile.
 */
import { expect, it } from 'vitest';
import { JOBS, startDriverAndHolder } from './driver-and-holder.ts';

/** The longest time until a killed instance's presence has expired and its next incarnation has checked it again. */
const NAME_IS_TAKEN_MS = 4_500;
const DOWN_MS = 1_000;
/** Far less than the time after which an unhandled message is delivered again. */
const HEARD_MS = 500;

it.each([0, 500, 1_000, 1_500, 2_000])(
  'a driver killed %i ms after sending receives its reports after the restart',
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
