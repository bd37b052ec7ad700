/** Hot path: an utterance as the job engine's request: what is needed of a node, and what the job carries. Pure. */
import type { DispatchRequest } from '../domain/dispatch.ts';
import type { AudioSource, CutReason, JobSpec, Pipeline } from '../domain/job-spec.ts';
import type { Need } from '../domain/need.ts';
import type { SealReason } from './segmentation.ts';
import type { Session, Speech, Utterance } from './session.ts';

export interface Order {
  readonly speech: Speech;
  readonly pipeline: Pipeline;
  readonly source: AudioSource;
  readonly audio: Buffer | undefined;
  readonly cut: CutReason;
  readonly paddingMs: number | undefined;
  readonly turnId: string | undefined;
  readonly contextText: string | undefined;
  /** What the request is bound by; absent: nothing is. */
  readonly binding: { readonly requestId: string; readonly fingerprint: string } | undefined;
  readonly poolIds: readonly number[] | undefined;
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

const NOTHING: readonly string[] = [];
const TONE: readonly string[] = ['tone'];

export function orderJob(session: Session, utterance: Utterance, order: Order): DispatchRequest {
  const { binding, audio } = order;
  return {
    tenantId: session.tenantId,
    sessionId: session.sessionId,
    jobId: utterance.jobId,
    need: needOf(session, order),
    spec: specOf(utterance, order),
    waitMs: order.waitMs,
    ...(audio === undefined ? undefined : { audio }),
    ...binding,
  };
}

function needOf(session: Session, { speech, pipeline, source, poolIds }: Order): Need {
  const { languages } = speech;
  return {
    tenantId: session.tenantId,
    sessionId: session.sessionId,
    directions: languages.directions,
    isSourceAuto: languages.isSourceAuto,
    usesAsr: pipeline.use_asr,
    usesNmt: pipeline.use_nmt,
    usesTts: pipeline.use_tts,
    types: pipeline.use_tone ? TONE : NOTHING,
    services: NOTHING,
    isAudioByReference: source.kind === 'reference',
    isPairUnknown: languages.isPairUnknown,
    // Nobody issues pairing codes, so no session has a node of its own.
    needsPublicNode: true,
    isStrict: false,
    ...(poolIds === undefined ? undefined : { poolIds }),
  };
}

function specOf(utterance: Utterance, order: Order): JobSpec {
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
