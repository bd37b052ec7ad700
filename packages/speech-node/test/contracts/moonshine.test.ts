/** With the set-up the real model is tested, without it the message that says how to set it up. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createMoonshineRecognizer } from '../../src/engines/moonshine/moonshine-recognizer.ts';
import { cacheFolder, missingParts } from '../../src/setup/cache-folder.ts';
import { ENGLISH, partsFor } from '../../src/setup/parts.ts';
import { compile } from '../support/compile.ts';
import { spoken } from '../support/sentence.ts';
import { recognizerContract } from './recognizer-contract.ts';

const folder = cacheFolder(process.env);
const isThere = (await missingParts(folder, partsFor([ENGLISH]))).length === 0;
const SENTENCES: readonly (readonly [string, RegExp])[] = [
  ['The museum is closed on Mondays.', /museum is closed on mondays/i],
  ['My friend is waiting for me at the airport.', /waiting for me at the airport/i],
];

// Node.js runs the compiled worker.
beforeAll(compile);

if (isThere) {
  const open = (options = {}) =>
    createMoonshineRecognizer({ folder, models: [ENGLISH], workers: 1, ...options });
  recognizerContract('Moonshine', {
    open,
    openSmall: () => open({ waiting: 1 }),
    language: 'en',
    utterances: () =>
      Promise.all(SENTENCES.map(async ([text, word]) => [await spoken(text, 'en'), word] as const)),
  });
}

describe(
  isThere
    ? 'Moonshine without its set-up'
    : 'Moonshine (run "lingua-speech-node --set-up" for all its tests)',
  () => {
    it('says what is missing, where, and which command installs it', async () => {
      const empty = await mkdtemp(join(tmpdir(), 'speech-'));
      onTestFinished(() => rm(empty, { recursive: true }));
      await expect(createMoonshineRecognizer({ folder: empty, models: [ENGLISH] })).rejects.toThrow(
        new RegExp(`ONNX Runtime.*English speech recognition.*${empty}.*--set-up`),
      );
    });
  },
);
