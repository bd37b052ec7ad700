/** Hot path: a job as the node gets to see it. Legacy nodes get only what they understand. Pure. */
import type { AudioRef, JobAssign } from '@lingua/protocol';
import type { JobRecord } from '../../domain/job.ts';
import type { AudioAt, CutReason, JobSpec } from '../../domain/job-spec.ts';
import type { NodeProfile } from '../../domain/profile.ts';
import { given } from '../wire/given.ts';
import { unwrapWav } from '../wire/unwrap-wav.ts';

export type UnfitReason =
  /** Held once, but not any more. */
  'audio_lost' | 'audio_missing' | 'audio_ref_unsupported' | 'audio_format_unsupported';

export type AssignMessage =
  | { readonly kind: 'assign'; readonly message: JobAssign }
  /** The node could do nothing with it. */
  | { readonly kind: 'unfit'; readonly reason: UnfitReason };

export interface AssignInput {
  readonly job: JobRecord;
  readonly attempt: number;
  readonly profile: Pick<NodeProfile, 'isLegacy' | 'supports'>;
  /** What the audio store holds for the job. */
  readonly audio: Buffer | undefined;
  /** Where another instance holds it. */
  readonly audioAt?: AudioAt | undefined;
  /** Where the node may fetch held audio; nothing: it goes inline. */
  readonly refer: (audio: Buffer) => AudioRef | undefined;
}

/** Only a node that fetches by itself can take a job whose audio is neither here nor in the message. */
export const canFetch = ({ supports }: Pick<NodeProfile, 'supports'>): boolean =>
  supports.includes('audio_ref');

export function assignMessage(input: AssignInput): AssignMessage {
  const { job, attempt, profile } = input;
  const { spec } = job;
  const audio = audioFields(input);
  if (typeof audio === 'string') return { kind: 'unfit', reason: audio };
  const message = {
    type: 'job_assign',
    job_id: job.jobId,
    attempt_id: attempt,
    session_id: job.sessionId,
    utterance_index: spec.utteranceIndex,
    src_lang: spec.sourceLanguage,
    tgt_lang: spec.targetLanguage,
    pipeline: spec.pipeline,
    ...audio,
    trace_id: spec.traceId,
    ...given({
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
    ...(profile.isLegacy ? AS_THE_FIELD_KNOWS_IT : asItIs(job)),
  };
  // The words of mode and audio_format were checked where the job came in; the spec keeps them as text.
  return { kind: 'assign', message: message as JobAssign };
}

/**
 * Legacy nodes answer only jobs that were cut by hand, keep jobs of one turn_id in one buffer, and know nothing of
 * deadlines.
 */
const AS_THE_FIELD_KNOWS_IT = { is_manual_cut: true } as const;

const CUT_FLAGS: Readonly<Record<CutReason, Partial<JobAssign>>> = {
  manual: { is_manual_cut: true },
  pause: { is_pause_triggered: true },
  timeout: { is_timeout_triggered: true },
  max_duration: { is_max_duration_triggered: true },
};

const asItIs = (job: JobRecord): Partial<JobAssign> => ({
  ...CUT_FLAGS[job.spec.cut],
  ...given({ turn_id: job.spec.turnId }),
  deadline_ms: job.deadlineAt,
});

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
      if (profile.isLegacy) return bareAudio(spec, audio);
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

/** Legacy nodes take opus packets or bare samples, and never nothing. */
function bareAudio(spec: JobSpec, audio: Buffer): AudioFields | UnfitReason {
  if (spec.audioFormat !== 'wav') {
    if (audio.length === 0) return 'audio_missing';
    return inlineAudio(audio, { audio_format: spec.audioFormat, sample_rate: spec.sampleRate });
  }
  const wav = unwrapWav(audio);
  if (wav.kind === 'invalid') return 'audio_format_unsupported';
  return inlineAudio(wav.samples, { audio_format: 'pcm16', sample_rate: wav.sampleRate });
}
