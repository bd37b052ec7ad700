/** Hot path: builds the job engine's request from an utterance: the need and the job's content. Pure. */
import type { DispatchRequest } from '../../domain/dispatch.ts';
import type { AudioSource, CutReason, JobSpec, Pipeline } from '../../domain/job-spec.ts';
import type { Need } from '../../domain/need.ts';
import type { PlanInput, PlanRequest, WantedTarget } from '../../domain/plan.ts';
import type { Require } from '../../domain/requirements.ts';
import type { SessionEffect } from '../event.ts';
import {
  allOf,
  type Rendition,
  type Session,
  type SharedPlan,
  type Speech,
  type Utterance,
} from '../session.ts';
import type { Step, StepTools } from '../step-context.ts';
import { choosePool } from './preferred-pool.ts';
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

/** Starts the work on an utterance: one job, or a plan of several. */
export function effectOf(
  step: Pick<Step, 'require' | 'settings'>,
  session: Session,
  utterance: Utterance,
  order: JobInput,
): SessionEffect {
  const plan = utterance.rendition?.plan;
  if (plan === undefined)
    return {
      kind: 'dispatch',
      utterance,
      request: buildRequest(session, utterance, order, step.require),
    };
  const request = buildPlan(step, session, utterance, plan, order);
  return { kind: 'plan', utterance: plan.utterances[0] ?? utterance, request };
}

/** Covers the outcomes that are still missing. */
export function buildPlan(
  { require, settings }: Pick<Step, 'require' | 'settings'>,
  session: Session,
  utterance: Utterance,
  plan: SharedPlan,
  order: JobInput,
): PlanRequest {
  const required = require({ pipeline: order.pipeline, features: order.speech.features });
  const input: PlanInput = { kind: 'audio', source: order.source, audio: order.audio };
  const {
    sourceLanguage: _source,
    targetLanguage: _target,
    pipeline: _pipeline,
    audio: _audio,
    ...spec
  } = specOf(utterance, order);
  return {
    tenantId: session.tenantId,
    sessionId: session.sessionId,
    name: plan.name,
    fingerprint: plan.name,
    input,
    source: plan.source,
    wanted: wantedOf(utterance),
    spec,
    need: {
      needsPublicNode: true,
      types: required.types,
      services: required.services,
      ...(required.features === undefined ? undefined : { features: required.features }),
      ...(order.poolId === undefined ? undefined : { preferredPoolId: order.poolId }),
      ...(session.opening.region === undefined ? undefined : { region: session.opening.region }),
    },
    deadlineAt: utterance.acceptedAt + settings.jobDeadlineMs,
    waitMs: order.waitMs,
  };
}

/** Continues the plan of another instance: its jobs are found by their request ids, and its audio comes only from the client. */
export function resumePlan(tools: StepTools, session: Session, utterance: Utterance): PlanRequest {
  const { speech } = session.opening;
  const { plan } = utterance.rendition as Rendition;
  const { poolId } = choosePool(session.pool, session, speech.languages, tools.pools);
  return buildPlan(tools, session, utterance, plan, {
    speech,
    pipeline: WHOLE_PIPELINE,
    source: { kind: 'held', bytes: 0 },
    audio: undefined,
    cut: 'manual',
    paddingMs: undefined,
    turnId: undefined,
    contextText: undefined,
    binding: undefined,
    poolId,
    waitMs: tools.settings.pendingTimeoutMs,
  });
}

function wantedOf(utterance: Utterance): readonly WantedTarget[] {
  const wanted = new Map<string, WantedTarget>();
  for (const { rendition, isSettled } of allOf(utterance)) {
    if (rendition === undefined || isSettled) continue;
    const { language, kind } = rendition;
    const isVoiceWanted = kind === 'voice' || wanted.get(language)?.isVoiceWanted === true;
    wanted.set(language, { language, isVoiceWanted });
  }
  return [...wanted.values()];
}

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
    ...(session.opening.region === undefined ? undefined : { region: session.opening.region }),
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
    ...(speech.glossaryId !== undefined && { glossaryId: speech.glossaryId }),
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
