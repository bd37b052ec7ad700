/** Vocabulary: what a job sends to its node, and its result. */
import type { JobGlossary } from './glossary.ts';
import type { Language } from './language.ts';
import type { Stage } from './stage.ts';

export interface Pipeline {
  readonly use_asr: boolean;
  readonly use_nmt: boolean;
  readonly use_tts: boolean;
  readonly use_semantic: boolean;
  readonly use_tone: boolean;
  readonly use_phonetic?: boolean;
  readonly use_lexicon?: boolean;
}

/** Where the input audio is. `held`: in this instance's audio store under the job's id. */
export type AudioSource =
  | { readonly kind: 'held'; readonly bytes: number }
  | { readonly kind: 'reference'; readonly url: string }
  | { readonly kind: 'none' };

/** Where another instance serves the audio that it holds for a job. */
export interface AudioAt {
  readonly url: string;
  /** Absent: instances sign their requests, and nodes get a token at the hand-over. */
  readonly token?: string;
  readonly bytes: number;
}

/** What ended the utterance; legacy nodes always get "manual". */
export type CutReason = 'manual' | 'pause' | 'timeout' | 'max_duration';

/** Built field by field, so that all specs have one shape: missing fields are undefined. */
export interface JobSpec {
  readonly utteranceIndex: number;
  readonly sourceLanguage: Language;
  readonly targetLanguage: Language;
  readonly dialect?: string | undefined;
  readonly features?: Readonly<Record<string, boolean>> | undefined;
  readonly pipeline: Pipeline;
  /** Text instead of audio; then `audio` is `none`. */
  readonly inputText?: string | undefined;
  /** What was recognised, if `inputText` is the text of a pivot language. */
  readonly sourceText?: string | undefined;
  /** The chain of a job of a plan; absent: the pipeline says all. */
  readonly stages?: readonly Stage[] | undefined;
  readonly audio: AudioSource;
  readonly audioFormat: string;
  readonly sampleRate: number;
  readonly mode?: string | undefined;
  readonly languageA?: Language | undefined;
  readonly languageB?: Language | undefined;
  readonly autoLanguages?: readonly Language[] | undefined;
  readonly enableStreamingAsr?: boolean | undefined;
  readonly partialUpdateIntervalMs?: number | undefined;
  readonly traceId: string;
  readonly groupId?: string | undefined;
  readonly partIndex?: number | undefined;
  readonly contextText?: string | undefined;
  readonly paddingMs?: number | undefined;
  readonly cut: CutReason;
  readonly turnId?: string | undefined;
  /** For a text while somebody speaks: tried once, and not charged. */
  readonly isInterim?: boolean | undefined;
  /** What the job does without, because the nodes were overloaded and its tenant allows it. */
  readonly degraded?: readonly Degradation[] | undefined;
  /** As requested; absent: that of the tenant. */
  readonly glossaryId?: string | undefined;
  /** What the node gets of it; absent: nothing. */
  readonly glossary?: JobGlossary | undefined;
}

export const DEGRADATIONS = ['voice', 'partials'] as const;
export type Degradation = (typeof DEGRADATIONS)[number];

export interface JobResult {
  readonly textAsr: string;
  readonly textTranslated: string;
  readonly ttsAudio: string;
  readonly ttsFormat: string;
  readonly processingTimeMs?: number;
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Quality fields and other additions of the node; passed through unchanged. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The result says what it was asked for and does not have. */
export const withDegradation = (result: JobResult, { degraded }: JobSpec): JobResult =>
  degraded === undefined ? result : { ...result, extra: { ...result.extra, degraded: [...degraded] } };

/** Speech is base64, so its length is its bytes. */
export function fitResult(result: JobResult, inlineMaxBytes: number): JobResult {
  const bytes = result.ttsAudio.length;
  if (bytes <= inlineMaxBytes) return result;
  return {
    ...result,
    ttsAudio: '',
    extra: { ...result.extra, tts_audio_dropped: true, tts_audio_bytes: bytes },
  };
}
