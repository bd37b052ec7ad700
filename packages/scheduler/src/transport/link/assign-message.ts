/** Hot path: builds the message that assigns a job to a node. Legacy nodes get only fields that they understand. Pure. */
import type { AudioRef, JobAssign } from '@lingua/protocol';
import type { JobRecord } from '../../domain/job.ts';
import type { AudioAt, CutReason, JobSpec } from '../../domain/job-spec.ts';
import type { NodeProfile } from '../../domain/profile.ts';
import { omitUndefined } from '../wire/omit-undefined.ts';
import { unwrapWav } from '../wire/unwrap-wav.ts';

export type UnfitReason =
  /** It was held before and is no longer. */
  | 'audio_lost'
  | 'audio_missing'
  | 'text_input_unsupported'
  | 'audio_ref_unsupported'
  | 'audio_format_unsupported';

export type AssignMessage =
  | { readonly kind: 'assign'; readonly message: JobAssign }
  /** The node cannot process this job. */
  | { readonly kind: 'unfit'; readonly reason: UnfitReason };

export interface AssignInput {
  readonly job: JobRecord;
  readonly attempt: number;
  readonly profile: Pick<NodeProfile, 'isLegacy' | 'supports'>;
  /** From the audio store of this instance. */
  readonly audio: Buffer | undefined;
  /** Where another instance holds it. */
  readonly audioAt?: AudioAt | undefined;
  /** Where the node may fetch held audio; undefined: it goes inline. */
  readonly refer: (audio: Buffer) => AudioRef | undefined;
}

/** Only such a node can take a job whose audio is neither held here nor inline. */
export const canFetch = ({ supports }: Pick<NodeProfile, 'supports'>): boolean =>
  supports.includes('audio_ref');

export function assignMessage(input: AssignInput): AssignMessage {
  const { job, attempt, profile } = input;
  const { spec } = job;
  if (spec.inputText !== undefined && !profile.supports.includes('text_input')) {
    return { kind: 'unfit', reason: 'text_input_unsupported' };
  }
  const audio = audioFields(input);
  if (typeof audio === 'string') return { kind: 'unfit', reason: audio };
  const message = {
    type: 'job_assign',
    job_id: job.jobId,
    attempt_id: attempt,
    session_id: sessionOf(job, profile),
    utterance_index: spec.utteranceIndex,
    src_lang: spec.sourceLanguage,
    tgt_lang: spec.targetLanguage,
    pipeline: spec.pipeline,
    ...audio,
    trace_id: spec.traceId,
    ...omitUndefined({
      input_text: spec.inputText,
      dialect: spec.dialect,
      features: spec.features,
      mode: spec.mode,
      lang_a: spec.languageA,
      lang_b: spec.languageB,
      auto_langs: spec.autoLanguages,
      enable_streaming_asr: spec.enableStreamingAsr,
      partial_update_interval_ms: spec.partialUpdateIntervalMs,
      group_id: spec.groupId,
      part_index: spec.partIndex,
      context_text: spec.contextText,
      padding_ms: spec.paddingMs,
    }),
    ...(profile.isLegacy ? LEGACY_FIELDS : currentFields(job)),
    ...(profile.supports.includes('glossary') ? glossaryFields(job) : undefined),
  };
  // `mode` and `audio_format` were validated when the job was accepted; the spec keeps them as strings.
  return { kind: 'assign', message: message as JobAssign };
}

/** Legacy nodes process only jobs with a manual cut, buffer jobs of one turn_id together, and ignore deadlines. */
const LEGACY_FIELDS = { is_manual_cut: true } as const;

const CUT_FLAGS: Readonly<Record<CutReason, Partial<JobAssign>>> = {
  manual: { is_manual_cut: true },
  pause: { is_pause_triggered: true },
  timeout: { is_timeout_triggered: true },
  max_duration: { is_max_duration_triggered: true },
};

const currentFields = (job: JobRecord): Partial<JobAssign> => ({
  ...CUT_FLAGS[job.spec.cut],
  ...omitUndefined({ turn_id: job.spec.turnId }),
  deadline_ms: job.deadlineAt,
  ...omitUndefined({ stages: job.spec.stages && [...job.spec.stages] }),
});

const glossaryFields = ({ spec: { glossary } }: JobRecord): Partial<JobAssign> | undefined =>
  glossary && { glossary: { glossary_id: glossary.glossaryId, terms: [...glossary.terms] } };

/**
 * Legacy nodes refuse a second job with the same session and index. A plan has one whole job per language for them, so each language is a
 * session of its own.
 */
const sessionOf = ({ sessionId, spec }: JobRecord, { isLegacy }: Pick<NodeProfile, 'isLegacy'>): string =>
  isLegacy && spec.stages !== undefined
    ? `${sessionId.slice(0, LONGEST_SESSION_PART)}:${spec.targetLanguage}`
    : sessionId;

/** Ids have at most 128 characters, language tags 35. */
const LONGEST_SESSION_PART = 92;

type AudioFields = { audio: string; audio_ref?: AudioRef; audio_format: string; sample_rate: number };

function audioFields({ job, profile, audio, audioAt, refer }: AssignInput): AudioFields | UnfitReason {
  const { spec } = job;
  const described = { audio_format: spec.audioFormat, sample_rate: spec.sampleRate };
  switch (spec.audio.kind) {
    case 'reference':
      if (!canFetch(profile)) return 'audio_ref_unsupported';
      return { audio: '', audio_ref: { url: spec.audio.url }, ...described };
    case 'none':
      return profile.isLegacy ? 'audio_missing' : { audio: '', ...described };
    case 'held':
      if (audio === undefined) {
        return audioAt !== undefined && canFetch(profile)
          ? { audio: '', audio_ref: audioAt, ...described }
          : 'audio_lost';
      }
      if (profile.isLegacy) return legacyAudio(spec, audio);
      return (
        referredAudio(canFetch(profile) ? refer(audio) : undefined, described) ??
        inlineAudio(audio, described)
      );
  }
}

type Described = Pick<AudioFields, 'audio_format' | 'sample_rate'>;

const referredAudio = (ref: AudioRef | undefined, described: Described): AudioFields | undefined =>
  ref && { audio: '', audio_ref: ref, ...described };

const inlineAudio = (audio: Buffer, described: Described): AudioFields => ({
  audio: audio.toString('base64'),
  ...described,
});

/** Legacy nodes accept opus packets or raw samples, but no empty audio. */
function legacyAudio(spec: JobSpec, audio: Buffer): AudioFields | UnfitReason {
  if (spec.audioFormat !== 'wav') {
    if (audio.length === 0) return 'audio_missing';
    return inlineAudio(audio, { audio_format: spec.audioFormat, sample_rate: spec.sampleRate });
  }
  const wav = unwrapWav(audio);
  if (wav.kind === 'invalid') return 'audio_format_unsupported';
  return inlineAudio(wav.samples, { audio_format: 'pcm16', sample_rate: wav.sampleRate });
}
