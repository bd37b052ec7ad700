/** Recordings of a human voice with their transcripts: the English prompts of Asterisk, as Debian packages them. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { readWav } from '../audio/wav.ts';
import { runProgram } from '../engines/run-program.ts';
import { wordsOf } from './word-errors.ts';

const SOUNDS = '/usr/share/asterisk/sounds/en';
const TRANSCRIPT = '/usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz';
export const CLIP_PACKAGES = ['asterisk-core-sounds-en-g722', 'asterisk-core-sounds-en', 'ffmpeg'];

const FEWEST_WORDS = 2;
/** Spelled, counted or described instead of transcribed: such lines do not have the words that were said. */
const UNSAID = /[\d<>[\]()*#"]|(?<!')\b[b-hj-z]\b/i;

export interface Clip {
  readonly name: string;
  readonly said: string;
}

export async function humanClips(): Promise<Clip[]> {
  const packed = await readFile(TRANSCRIPT).catch(() => {
    throw new Error(`the recordings are missing; on Debian: apt-get install ${CLIP_PACKAGES.join(' ')}`);
  });
  const text = (await promisify(gunzip)(packed)).toString();
  return clipsOf(text).filter(({ name }) => existsSync(`${SOUNDS}/${name}.g722`));
}

/** Lines such as "vm-goodbye: Goodbye." Pure. */
export const clipsOf = (transcript: string): Clip[] =>
  transcript.split('\n').flatMap((line) => {
    const [, name, said = ''] = /^([\w/-]+): +(.+)$/.exec(line.trim()) ?? [];
    if (name === undefined || UNSAID.test(said) || wordsOf(said).length < FEWEST_WORDS) return [];
    return [{ name, said }];
  });

export async function soundOf({ name }: Clip, signal: AbortSignal): Promise<Float32Array> {
  const wav = await runProgram({
    program: 'ffmpeg',
    args: [
      '-v',
      'error',
      '-f',
      'g722',
      '-i',
      `${SOUNDS}/${name}.g722`,
      '-ar',
      '16000',
      '-ac',
      '1',
      '-f',
      'wav',
      '-',
    ],
    signal,
    maxBytes: 16 * 1024 * 1024,
  });
  return readWav(wav).samples;
}
