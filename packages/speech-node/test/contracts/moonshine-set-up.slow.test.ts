/** Needs the set-up: .ci/run makes it before the slow tests. */
import { expect, it, onTestFinished } from 'vitest';
import { createMoonshineRecognizer } from '../../src/engines/moonshine/moonshine-recognizer.ts';
import { cacheFolder, missingParts } from '../../src/setup/cache-folder.ts';
import { ENGLISH, partsFor } from '../../src/setup/parts.ts';
import { compile } from '../support/compile.ts';
import { NEVER } from '../support/never.ts';
import { spoken } from '../support/sentence.ts';

it('the model of the set-up recognises an English sentence, and refuses more than a minute', async () => {
  const folder = cacheFolder(process.env);
  const missing = await missingParts(folder, partsFor([ENGLISH]));
  expect(missing.map(({ title }) => title)).toEqual([]);
  await compile();
  const recognizer = await createMoonshineRecognizer({ folder, models: [ENGLISH], workers: 1 });
  onTestFinished(() => recognizer.close());
  const speech = await spoken('The museum is closed on Mondays.', 'en');
  expect(await recognizer.recognize(speech, 'en', NEVER)).toMatch(/museum is closed on mondays/i);
  const long = new Float32Array(61 * 16_000).fill(0.5);
  await expect(recognizer.recognize(long, 'en', NEVER)).rejects.toThrow(/longer than 60 seconds/);
});
