/** Hot path: builds the job engine's request from an utterance: the need and the job's content. Pure. */
import type { DispatchRequest } from '../../domain/dispatch.ts';
import type { AudioSource, CutReason, JobSpec, Pipeline } from '../../domain/job-spec.ts';
import type { Need } from '../../domain/need.ts';
import type { Require } from '../../domain/requirements.ts';
import type { Session, Speech, Utterance } from '../session.ts';
import type { SealReason } from './segmentation.ts';

export interface JobInput {
  readonly speech: Speech;
  readonly pipeline: Pipeline;
  readonly source: AudioSource;
  readonly audio: Buffer | undefined;
  readonly cut: CutReason;
  readonly paddingMs: number | undefined;
  readonly turnId: string | undefined;
  readonly contextText: string | undefined;
  /** Binds the job to a request id; absent: not bound. */
  readonly binding: { readonly requestId: string; readonly fingerprint: string } | undefined;
  /** The pool its session prefers. */
  readonly poolId: number | undefined;
  readonly waitMs: number;
}

export const WHOLE_PIPELINE: Pipeline = {
  use_asr: true,
  use_nmt: true,
  use_tts: true,
  use_semantic: true,
  use_tone: false,
};

const CUTS: Readonly<Record<SealReason, CutReason>> = {
  final: 'manual',
  close: 'manual',
  next: 'manual',
  limit: 'max_duration',
  pause: 'pause',
  max_duration: 'max_duration',
  max_bytes: 'max_duration',
};

export const cutOf = (reason: SealReason): CutReason => CUTS[reason];

export function buildRequest(
  session: Session,
  utterance: Utterance,
  order: JobInput,
  require: Require,
): DispatchRequest {
  const { binding, audio } = order;
  return {
    tenantId: session.tenantId,
    sessionId: session.sessionId,
    jobId: utterance.jobId,
    need: needOf(session, order, require),
    spec: specOf(utterance, order),
    waitMs: order.waitMs,
    ...(audio === undefined ? undefined : { audio }),
    ...binding,
  };
}

function needOf(session: Session, { speech, pipeline, source, poolId }: JobInput, require: Require): Need {
  const { languages } = speech;
  const required = require({ pipeline, features: speech.features });
  return {
    tenantId: session.tenantId,
    sessionId: session.sessionId,
    directions: languages.directions,
    isSourceAuto: languages.isSourceAuto,
    usesAsr: required.usesAsr,
    usesNmt: required.usesNmt,
    usesTts: required.usesTts,
    types: required.types,
    services: required.services,
    isAudioByReference: source.kind === 'reference',
    isPairUnknown: languages.isPairUnknown,
    // Pairing codes are not implemented, so no session has a node of its own.
    needsPublicNode: true,
    isStrict: false,
    ...(required.features === undefined ? undefined : { features: required.features }),
    ...(poolId === undefined ? undefined : { preferredPoolId: poolId }),
  };
}

function specOf(utterance: Utterance, order: JobInput): JobSpec {
  const { speech, contextText, paddingMs, turnId } = order;
  const { languages } = speech;
  return {
    utteranceIndex: utterance.index,
    sourceLanguage: languages.source,
    targetLanguage: languages.target,
    pipeline: order.pipeline,
    audio: order.source,
    audioFormat: speech.audioFormat,
    sampleRate: speech.sampleRate,
    traceId: utterance.traceId,
    groupId: utterance.groupId,
    partIndex: utterance.partIndex,
    cut: order.cut,
    ...(speech.dialect !== undefined && { dialect: speech.dialect }),
    ...(speech.features !== undefined && { features: speech.features }),
    ...(speech.mode !== undefined && { mode: speech.mode }),
    ...(languages.a !== undefined && { languageA: languages.a }),
    ...(languages.b !== undefined && { languageB: languages.b }),
    ...(languages.auto !== undefined && { autoLanguages: languages.auto }),
    ...(speech.enableStreamingAsr !== undefined && { enableStreamingAsr: speech.enableStreamingAsr }),
    ...(speech.partialUpdateIntervalMs !== undefined && {
      partialUpdateIntervalMs: speech.partialUpdateIntervalMs,
    }),
    ...(contextText !== undefined && { contextText }),
    ...(paddingMs !== undefined && { paddingMs }),
    ...(turnId !== undefined && { turnId }),
  };
}
