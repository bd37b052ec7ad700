/** Speech by espeak-ng, one short process per text. */

import { JobError } from '@lingua/sdk/node';
import { resample } from '../../audio/resample.ts';
import { readWav, toPcm16 } from '../../audio/wav.ts';
import { SAMPLE_RATE, type Synthesizer } from '../engines.ts';
import { runProgram } from '../run-program.ts';
import { createTurns } from '../turns.ts';

/** ISO 639-1 → a voice of espeak-ng. Galician has none. */
const VOICES: ReadonlyMap<string, string> = new Map([
  ['ca', 'ca'],
  ['en', 'en-us'],
  ['eo', 'eo'],
  ['es', 'es'],
  ['fr', 'fr-fr'],
  ['it', 'it'],
  ['pt', 'pt'],
]);
const WORDS_PER_MINUTE = '150';
/** Four minutes of its 22,050 Hz sound. */
const MAX_BYTES = 10 * 1024 * 1024;
const LONGEST_TEXT = 8_192;

export interface EspeakOptions {
  readonly program?: string;
  readonly atOnce?: number;
  readonly waiting?: number;
}

export function createEspeakSynthesizer({
  program = 'espeak-ng',
  atOnce = 4,
  waiting = 32,
}: EspeakOptions = {}): Synthesizer {
  const turns = createTurns({ engine: 'espeak-ng', atOnce, waiting });
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();

  async function speech(text: string, voice: string, signal: AbortSignal): Promise<Int16Array> {
    const wav = await runProgram({
      program,
      // The text is sent as input: as an argument it could look like an option.
      args: ['-v', voice, '-s', WORDS_PER_MINUTE, '-b', '1', '--stdin', '--stdout'],
      input: text,
      signal: AbortSignal.any([signal, closing.signal]),
      maxBytes: MAX_BYTES,
    });
    if (wav.length === 0) return new Int16Array();
    const { samples, sampleRate } = readWav(wav);
    return toPcm16(resample(samples, sampleRate, SAMPLE_RATE));
  }

  return {
    model: 'espeak-ng',
    languages: [...VOICES.keys()],
    async speak(text, language, signal) {
      signal.throwIfAborted();
      const voice = VOICES.get(language);
      if (voice === undefined) throw new TypeError(`espeak-ng has no voice for ${language} here`);
      if (text.length > LONGEST_TEXT)
        throw new JobError('PROCESSING_ERROR', `the text is longer than ${LONGEST_TEXT} characters`);
      const spoken = turns.take(signal, () =>
        // Without words there would only be a click.
        /[\p{L}\p{N}]/u.test(text) ? speech(text, voice, signal) : Promise.resolve(new Int16Array()),
      );
      running.add(spoken);
      try {
        return await spoken;
      } finally {
        running.delete(spoken);
      }
    },
    async close() {
      turns.close();
      closing.abort(new JobError('PROCESSING_ERROR', 'espeak-ng is closed'));
      await Promise.allSettled(running);
    },
  };
}
