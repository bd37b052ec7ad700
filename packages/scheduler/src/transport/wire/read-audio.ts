/** Reads the audio of a dispatch request or an utterance: bytes or a reference, with its format. Pure. */
import type { AudioSource } from '../../domain/job-spec.ts';
import { unwrapWav } from './unwrap-wav.ts';

export type ReadAudio =
  | {
      readonly kind: 'audio';
      readonly source: AudioSource;
      readonly data: Buffer | undefined;
      readonly audioFormat: string;
      readonly sampleRate: number;
    }
  | { readonly kind: 'invalid'; readonly field: string; readonly message: string };

const DEFAULT_FORMAT = 'pcm16';
const DEFAULT_SAMPLE_RATE = 16_000;

export interface NamedAudio {
  readonly audio?: string | undefined;
  readonly audio_ref?: string | undefined;
  readonly audio_format?: string | undefined;
  readonly sample_rate?: number | undefined;
}

/** A job whose input is text. */
export const NO_AUDIO: ReadAudio = {
  kind: 'audio',
  source: { kind: 'none' },
  data: undefined,
  audioFormat: DEFAULT_FORMAT,
  sampleRate: DEFAULT_SAMPLE_RATE,
};

export function readAudio(body: NamedAudio): ReadAudio {
  const { audio, audio_ref: url } = body;
  const audioFormat = body.audio_format ?? DEFAULT_FORMAT;
  const sampleRate = body.sample_rate ?? DEFAULT_SAMPLE_RATE;
  if (audio !== undefined && url !== undefined) {
    return invalid('/audio_ref', 'give "audio" or "audio_ref", not both');
  }
  if (url !== undefined) {
    if (url === '') return invalid('/audio_ref', '"audio_ref" must not be empty');
    return { kind: 'audio', source: { kind: 'reference', url }, data: undefined, audioFormat, sampleRate };
  }
  const data = decodeBase64(audio ?? '');
  if (data === undefined) return invalid('/audio', '"audio" must be base64');
  if (data.length === 0) return invalid('/audio', '"audio" must not be empty');
  if (audioFormat !== 'wav') return held(data, audioFormat, sampleRate);
  const wav = unwrapWav(data);
  if (wav.kind === 'invalid') return invalid('/audio', `"audio" ${wav.reason}`);
  return held(wav.samples, 'pcm16', wav.sampleRate);
}

const held = (data: Buffer, audioFormat: string, sampleRate: number): ReadAudio => ({
  kind: 'audio',
  source: { kind: 'held', bytes: data.length },
  data,
  audioFormat,
  sampleRate,
});

const invalid = (field: string, message: string): ReadAudio => ({ kind: 'invalid', field, message });

/**
 * The system decoder skips unknown characters, so each of them makes the result shorter than the text's length
 * implies. Comparing both validates without a second pass over what may be megabytes.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.length - padding;
  if (digits % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === Math.floor((digits * 3) / 4) ? bytes : undefined;
}
