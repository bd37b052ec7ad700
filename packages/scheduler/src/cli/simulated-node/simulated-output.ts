/** The texts and the sound of a simulated answer. Pure; chance comes in as an argument. */

import type { JobAssign, JobOutput } from '@lingua/sdk/node';
import { JobError } from '@lingua/sdk/node';
import type { Said } from '../simulated-speech.ts';
import type { Behaviour } from './behaviour.ts';
import { PHRASE_COUNT, phrase, phraseNumber } from './phrases.ts';

const SAMPLE_RATE = 16_000;
const TONE_HZ = 440;
const LOUDNESS = 3_000;

export interface Spoken {
  readonly source: string;
  readonly target: string;
  /** Of the source. */
  readonly language: string;
}

/** The recognised sentence and its translation. For audio that is not simulated speech, a random sentence. */
export function speak(job: JobAssign, chance: () => number, heard?: Said): Spoken {
  // Always drawn, so that recognised speech does not change the later numbers.
  const number = Math.floor(chance() * PHRASE_COUNT);
  const isSecondSpeaker = chance() < 0.5;
  const { source, target } = direction(job, heard?.isSecondSpeaker ?? isSecondSpeaker);
  const { input_text: typed } = job;
  if (typed !== undefined)
    return { source: typed, target: translated(typed, source, target), language: source };
  const said = heard?.phrase ?? number;
  return { source: phrase(source, said), target: phrase(target, said), language: source };
}

/** Other sentences than the known ones are returned as they are, with the name of the target language before them. */
function translated(text: string, source: string, target: string): string {
  const number = phraseNumber(source, text);
  return number === undefined ? `[${target}] ${text}` : phrase(target, number);
}

/** `sound` is empty if the node does not speak. */
export function outputOf(job: JobAssign, spoken: Spoken, delayMs: number, sound: string): JobOutput {
  const { use_asr, use_nmt, use_tts } = job.pipeline;
  const terms = use_nmt ? usedTerms(job, spoken) : [];
  return {
    text_asr: use_asr ? spoken.source : '',
    text_translated: use_nmt ? withTerms(spoken.target, terms) : '',
    ...(job.glossary && { glossary_used: terms.map(({ source }) => source) }),
    ...(use_tts && sound !== '' ? { tts_audio: sound, tts_format: 'pcm16' } : {}),
    asr_quality_level: 'good',
    quality_score: 0.95,
    extra: {
      // A reader of the result must not take the invented text for recognised speech.
      simulated: true,
      language_probability: 0.98,
      service_timings: {
        ...(use_asr && { asr_ms: Math.round(delayMs * 0.4) }),
        ...(use_nmt && { nmt_ms: Math.round(delayMs * 0.2) }),
        ...(use_tts && { tts_ms: Math.round(delayMs * 0.4) }),
        total_ms: Math.round(delayMs),
      },
    },
  };
}

type Terms = NonNullable<JobAssign['glossary']>['terms'];

const usedTerms = ({ glossary }: JobAssign, { source }: Spoken): Terms =>
  (glossary?.terms ?? []).filter((term) => source.toLowerCase().includes(term.source.toLowerCase()));

/** A term that stands untranslated in the text is replaced; otherwise its translation follows the text. */
function withTerms(text: string, terms: Terms): string {
  let translated = text;
  for (const { source, target } of terms) {
    const at = translated.toLowerCase().indexOf(source.toLowerCase());
    translated =
      at < 0
        ? `${translated} (${target})`
        : translated.slice(0, at) + target + translated.slice(at + source.length);
  }
  return translated;
}

/** A soft beep as base64, so that a listener notices the answer. Computed once per node, because it is expensive. */
export function tone(ms: number): string {
  const samples = Math.round((ms * SAMPLE_RATE) / 1_000);
  const bytes = Buffer.alloc(samples * 2);
  for (let at = 0; at < samples; at += 1) {
    bytes.writeInt16LE(Math.round(LOUDNESS * Math.sin((2 * Math.PI * TONE_HZ * at) / SAMPLE_RATE)), at * 2);
  }
  return bytes.toString('base64');
}

/** In a two-way conversation either side may be speaking. */
function direction(job: JobAssign, isSecondSpeaker: boolean): { source: string; target: string } {
  if (job.src_lang !== 'auto') return { source: job.src_lang, target: job.tgt_lang };
  const { lang_a: a, lang_b: b } = job;
  if (a !== undefined && b !== undefined)
    return isSecondSpeaker ? { source: b, target: a } : { source: a, target: b };
  return {
    source: job.auto_langs?.find((language) => language !== job.tgt_lang) ?? 'en',
    target: job.tgt_lang,
  };
}

export const missingModel = (behaviour: Behaviour): JobError =>
  new JobError('MODEL_NOT_AVAILABLE', 'a simulated lack', {
    service_id: behaviour.modelNotAvailableService,
    service_version: '1.0.0',
    reason: 'simulated',
  });
