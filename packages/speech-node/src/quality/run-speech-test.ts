/** Measures the engines of a node: recognition of a human voice, with and without noise, repair, and translation. */

import type { Terminal } from '../cli/terminal.ts';
import { createApertiumTranslator } from '../engines/apertium/apertium-translator.ts';
import { type Recognizer, SAMPLE_RATE } from '../engines/engines.ts';
import { createMoonshineRecognizer } from '../engines/moonshine/moonshine-recognizer.ts';
import { repair } from '../repair/repair.ts';
import { cacheFolder } from '../setup/cache-folder.ts';
import { ENGLISH } from '../setup/parts.ts';
import { addNoise } from './add-noise.ts';
import { type Clip, humanClips, soundOf } from './human-clips.ts';
import { foundWords, SENTENCES } from './sentences.ts';
import { errorRate, type WordErrors, wordErrors } from './word-errors.ts';

const NOISE_DECIBELS = 10;
const SEED = 1;
/** The base model; its figure on these recordings was 3.5 %. */
export const HIGHEST_ERROR_RATE = 0.05;

interface Recognition {
  readonly clips: number;
  readonly words: number;
  readonly seconds_of_speech: number;
  readonly word_error_rate: number;
  readonly word_error_rate_after_repair: number;
  readonly exact_clips: number;
  readonly empty_clips: number;
  /** Computing time of one worker, as part of the speech's own time. */
  readonly real_time_factor: number;
  readonly texts_changed_by_repair: number;
}

export interface SpeechReport {
  readonly clean: Recognition;
  readonly noise_10_db: Recognition;
  readonly translation_en_es: {
    readonly sentences: number;
    readonly words_found: number;
    readonly words: number;
    readonly complete_sentences: number;
    readonly median_ms: number;
  };
  readonly rss_mb: number;
}

/** `--limit N`: only the first N recordings and sentences, `--json`: the report as JSON. Status 1: the error rate is too high. */
export async function runSpeechTest(
  { limit, isJson }: { readonly limit: number; readonly isJson: boolean },
  terminal: Terminal,
): Promise<number> {
  const clips = (await humanClips()).slice(0, limit);
  const recognizer = await createMoonshineRecognizer({
    folder: cacheFolder(terminal.env),
    models: [ENGLISH],
    workers: 1,
  });
  const say = (line: string): void => (isJson ? terminal.err : terminal.out)(line);
  try {
    const clean = await recognise(clips, recognizer, (sound) => sound, say, terminal.interrupted);
    const noisy = await recognise(
      clips,
      recognizer,
      (sound, index) => addNoise(sound, NOISE_DECIBELS, SEED + index),
      () => {},
      terminal.interrupted,
    );
    const report: SpeechReport = {
      clean,
      noise_10_db: noisy,
      translation_en_es: await translate(limit, say, terminal.interrupted),
      rss_mb: Math.round(process.memoryUsage().rss / 1e6),
    };
    if (isJson) terminal.out(JSON.stringify(report, undefined, 2));
    else for (const line of print(report)) terminal.out(line);
    return clean.word_error_rate <= HIGHEST_ERROR_RATE ? 0 : 1;
  } finally {
    await recognizer.close();
  }
}

async function recognise(
  clips: readonly Clip[],
  recognizer: Recognizer,
  change: (sound: Float32Array, index: number) => Float32Array,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<Recognition> {
  const plain: WordErrors[] = [];
  const repaired: WordErrors[] = [];
  let [seconds, computing, empty, changed] = [0, 0, 0, 0];
  for (const [index, clip] of clips.entries()) {
    const sound = change(await soundOf(clip, signal), index);
    const startedAt = performance.now();
    const text = await recognizer.recognize(sound, 'en', signal);
    computing += (performance.now() - startedAt) / 1_000;
    seconds += sound.length / SAMPLE_RATE;
    const after = repair(text, 'en').text;
    if (text === '') empty += 1;
    if (after !== text) changed += 1;
    const errors = wordErrors(clip.said, text);
    plain.push(errors);
    repaired.push(wordErrors(clip.said, after));
    if (errors.errors > 0) say(`  said: ${clip.said}\n  got:  ${text}`);
  }
  return {
    clips: clips.length,
    words: plain.reduce((sum, { words }) => sum + words, 0),
    seconds_of_speech: Math.round(seconds),
    word_error_rate: rounded(errorRate(plain)),
    word_error_rate_after_repair: rounded(errorRate(repaired)),
    exact_clips: plain.filter(({ errors }) => errors === 0).length,
    empty_clips: empty,
    real_time_factor: rounded(computing / Math.max(seconds, 1e-9)),
    texts_changed_by_repair: changed,
  };
}

async function translate(
  limit: number,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<SpeechReport['translation_en_es']> {
  const translator = await createApertiumTranslator();
  const sentences = SENTENCES.slice(0, limit);
  const times: number[] = [];
  let [found, words, complete] = [0, 0, 0];
  try {
    for (const sentence of sentences) {
      const startedAt = performance.now();
      const translation = await translator.translate(sentence.text, { source: 'en', target: 'es' }, signal);
      times.push(performance.now() - startedAt);
      const count = foundWords(sentence, translation);
      found += count;
      words += sentence.words.length;
      if (count === sentence.words.length) complete += 1;
      else say(`  ${sentence.text} -> ${translation}  (${count} of ${sentence.words.length})`);
    }
  } finally {
    await translator.close();
  }
  times.sort((one, other) => one - other);
  return {
    sentences: sentences.length,
    words_found: found,
    words,
    complete_sentences: complete,
    median_ms: rounded(times[times.length >> 1] ?? 0),
  };
}

function print({
  clean,
  noise_10_db: noisy,
  translation_en_es: translation,
  rss_mb,
}: SpeechReport): string[] {
  const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;
  const line = (name: string, of: Recognition): string =>
    `${name}: word error rate ${percent(of.word_error_rate)} (after repair ${percent(of.word_error_rate_after_repair)}) of ${of.words} words, ${of.exact_clips} of ${of.clips} recordings exact, ${of.empty_clips} empty, ${of.real_time_factor} of real time`;
  return [
    line('human voice', clean),
    line(`with noise at ${NOISE_DECIBELS} dB`, noisy),
    `repair changed ${clean.texts_changed_by_repair} of ${clean.clips} texts`,
    `translation en>es: ${translation.words_found} of ${translation.words} words, ${translation.complete_sentences} of ${translation.sentences} sentences have all; median ${translation.median_ms} ms`,
    `memory of this process: ${rss_mb} MB`,
  ];
}

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;
