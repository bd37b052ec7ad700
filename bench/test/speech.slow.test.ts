/** A person speaks to the Talk page; two real nodes recognise, translate and speak. Needs the set-up: .ci/run makes it. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../../packages/scheduler/test/e2e/support/ensure-built.ts';
import { samplesOf, toPcm16 } from '../../packages/speech-node/src/audio/wav.ts';
import { cacheFolder, missingParts } from '../../packages/speech-node/src/setup/cache-folder.ts';
import { ENGLISH, partsFor } from '../../packages/speech-node/src/setup/parts.ts';
import { converse } from '../src/speech/conversation.ts';
import { type SpeechRig, startSpeech } from '../src/speech/speech-rig.ts';

/** "Go forward ten meters", said by a person. */
const RECORDING = '/usr/share/pocketsphinx/test/data/goforward.raw';
let rig: SpeechRig;

beforeAll(async () => {
  const missing = await missingParts(cacheFolder(process.env), partsFor([ENGLISH]));
  expect(missing.map(({ title }) => title)).toEqual([]);
  await ensureBuilt();
  rig = await startSpeech(2);
}, 600_000);
afterAll(() => rig?.stop());

it('a sentence said into the microphone is heard in Spanish and read in Portuguese', async () => {
  const sound = toPcm16(samplesOf(readFileSync(RECORDING)));
  const heard = await converse({ url: rig.url, sound, further: ['Portuguese'], hasHeadphones: true });
  expect(heard.recognised).toMatch(/go forward (ten|10) meters/i);
  expect(heard.translated).toMatch(/diez metros/i);
  expect(heard.others.join()).toMatch(/metros/i);
  // It was really played: to its end, and not as silence.
  expect(heard.loudest).toBeGreaterThan(0.05);
  expect(heard.soundSeconds).toBeGreaterThan(0.5);
  expect(heard.soundEndedAt ?? 0).toBeGreaterThan(heard.soundAt ?? Number.POSITIVE_INFINITY);
  expect(heard.timings).toMatchObject({ asr_ms: expect.any(Number), tts_ms: expect.any(Number) });
  expect(heard.ownLoudest).toBeGreaterThan(0.05);
  // Nothing was loaded from elsewhere, and no script failed.
  expect(heard.faults).toEqual([]);
});
