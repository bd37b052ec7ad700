/** Human recordings for conversations: prompts of Asterisk, and test recordings of PocketSphinx, as Debian packages them. */
import { existsSync, readFileSync } from 'node:fs';
import { readWav, samplesOf, toPcm16 } from '../../../packages/speech-node/dist/audio/wav.js';
import { humanClips, soundOf } from '../../../packages/speech-node/dist/quality/human-clips.js';

export interface Recording {
  readonly said: string;
  readonly sound: Int16Array;
}

const SPHINX = '/usr/share/pocketsphinx/test/data';
/** 16-bit samples at 16 kHz, or WAV. */
const OF_SPHINX = [
  ['goforward.raw', 'go forward ten meters'],
  ['something.raw', 'go somewhere and do something'],
  ['librivox/sense_and_sensibility_01_austen_64kb-0880.wav', 'he was not an ill disposed young man'],
] as const;
const FEWEST_WORDS = 5;
const MOST_WORDS = 14;

/** Different kinds of sentences: every so many of the prompts that are sentences. */
export async function recordings(count: number, signal: AbortSignal): Promise<Recording[]> {
  const clips = (await humanClips()).filter(({ said }) => {
    const words = said.split(/\s+/).length;
    return words >= FEWEST_WORDS && words <= MOST_WORDS && /[.!?]$/.test(said);
  });
  const others = OF_SPHINX.filter(([name]) => existsSync(`${SPHINX}/${name}`)).slice(
    0,
    Math.floor(count / 4),
  );
  const wanted = count - others.length;
  const step = Math.max(1, Math.floor(clips.length / Math.max(1, wanted)));
  const chosen = clips.filter((_, index) => index % step === 0).slice(0, wanted);
  const prompts: Recording[] = [];
  for (const clip of chosen) prompts.push({ said: clip.said, sound: toPcm16(await soundOf(clip, signal)) });
  return [
    ...prompts,
    ...others.map(([name, said]) => {
      const bytes = readFileSync(`${SPHINX}/${name}`);
      return { said, sound: toPcm16(name.endsWith('.wav') ? readWav(bytes).samples : samplesOf(bytes)) };
    }),
  ];
}
