/** Hot path: what an accepted result has used, per stage and language. Pure. */
import { opusMs, pcmMs, wavMs } from '../../domain/audio-length.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { JobResult, JobSpec, Pipeline } from '../../domain/job-spec.ts';
import { AUTO, foldLanguage, type Language } from '../../domain/language.ts';
import type { Stage } from '../../domain/stage.ts';
import type { Amounts, JobUsage, StageUsage } from '../../domain/usage.ts';

/** Undefined: unknown without decoding, or the audio is elsewhere. */
export function measureAudio({ audioFormat, sampleRate }: JobSpec, audio: Buffer): number | undefined {
  if (audioFormat === 'opus') return opusMs(audio);
  return audioFormat === 'pcm16' ? pcmMs(audio.length, sampleRate) : undefined;
}

export function measureJob(
  { spec, audioMs }: Pick<JobRecord, 'spec' | 'audioMs'>,
  result: JobResult,
  at: number,
): JobUsage {
  const { inputText } = spec;
  const { source, target } = languagesOf(spec, result);
  const sourceText = inputText ?? result.textAsr;
  const stages: StageUsage[] = [];
  // The same speech is charged when it is over.
  const all = spec.isInterim ? [] : stagesOf(spec);
  for (const stage of all) {
    if (stage === 'asr') {
      const heardMs = audioMs ?? reportedMs(result);
      const amount = heardMs === undefined ? { unmeasured: 1 } : { audio_ms: heardMs };
      stages.push({ stage, language: source, amounts: { results: 1, ...amount } });
    } else if (stage === 'semantic') {
      if (sourceText !== '') stages.push({ stage, language: source, amounts: charactersOf(sourceText) });
    } else if (stage === 'nmt') {
      if (sourceText === '') continue;
      stages.push({ stage, language: `${source}>${target}`, amounts: charactersOf(sourceText) });
    } else {
      const isTranslated = all.includes('nmt');
      const text = isTranslated ? result.textTranslated : sourceText;
      const voice = voiceOf(result);
      if (voice !== undefined)
        stages.push({
          stage,
          language: isTranslated ? target : source,
          amounts: { ...charactersOf(text), ...voice },
        });
    }
  }
  return { at, stages };
}

/** Jobs of a plan name their stages. */
const stagesOf = ({ stages, pipeline }: JobSpec): readonly Stage[] => stages ?? stagesOfPipeline(pipeline);

function stagesOfPipeline({ use_asr, use_semantic, use_nmt, use_tts }: Pipeline): readonly Stage[] {
  const stages: Stage[] = [];
  if (use_asr) stages.push('asr');
  if (use_semantic) stages.push('semantic');
  if (use_nmt) stages.push('nmt');
  if (use_tts) stages.push('tts');
  return stages;
}

/** The languages as the node recognised them, if the request left them open. */
function languagesOf(
  { sourceLanguage, targetLanguage, languageA, languageB }: JobSpec,
  { details }: JobResult,
): { readonly source: Language; readonly target: Language } {
  const detected = details?.detected_language;
  const heard = typeof detected === 'string' && LANGUAGE.test(detected) ? foldLanguage(detected) : undefined;
  const source = sourceLanguage === AUTO ? (heard ?? AUTO) : sourceLanguage;
  if (languageA === undefined || languageB === undefined || heard === undefined)
    return { source, target: targetLanguage };
  return heard === languageB
    ? { source: languageB, target: languageA }
    : { source: languageA, target: languageB };
}

/** What a node reports is text from outside: it must fit a key. */
const LANGUAGE = /^[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}$/;

/** `extra.audio_duration_ms`: for audio that the node fetched from elsewhere. */
function reportedMs({ extra }: JobResult): number | undefined {
  const ms = extra?.audio_duration_ms;
  return typeof ms === 'number' && ms >= 0 && ms <= LONGEST_MS ? Math.round(ms) : undefined;
}

const LONGEST_MS = 86_400_000;

/** Code points, so that a character outside the basic plane counts once. */
function charactersOf(text: string): Amounts {
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) if ((text.charCodeAt(at) & 0xfc00) === 0xd800) pairs += 1;
  return { results: 1, characters: text.length - pairs };
}

const VOICE_RATE = 16_000;
/** Base64 of the longest header of a wav file that is read. */
const HEADER_DIGITS = 64;
/** Their length is known only to a decoder. */
const COMPRESSED: ReadonlySet<string> = new Set(['mp3', 'ogg', 'ogg_opus', 'flac', 'webm']);

/** Undefined: there is no voice. */
function voiceOf({ ttsAudio, ttsFormat }: JobResult): Amounts | undefined {
  if (ttsAudio === '') return undefined;
  const ms = voiceMs(ttsAudio, ttsFormat.toLowerCase());
  return ms === undefined ? { unmeasured: 1 } : { voice_ms: ms };
}

function voiceMs(base64: string, format: string): number | undefined {
  if (COMPRESSED.has(format)) return undefined;
  if (format === 'opus') return opusMs(Buffer.from(base64, 'base64'));
  const bytes = Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
  if (format === 'wav') return wavMs(Buffer.from(base64.slice(0, HEADER_DIGITS), 'base64'), bytes);
  return pcmMs(bytes, VOICE_RATE);
}
