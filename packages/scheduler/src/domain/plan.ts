/**
 * Vocabulary: the plan of one utterance, a request for several outcomes that ordinary jobs yield together, and how these outcomes are reported.
 * Pure.
 */
import type { DispatchRequest } from './dispatch.ts';
import type { ErrorCode } from './errors.ts';
import type { SessionId, TenantId } from './ids.ts';
import type { JobRecord } from './job.ts';
import type { AudioSource, JobResult, JobSpec } from './job-spec.ts';
import type { Language } from './language.ts';
import type { Need, RejectionCount } from './need.ts';
import type { Priority } from './tenancy.ts';

/** `audio`: the bytes, if the source is `held`. */
export type PlanInput =
  | { readonly kind: 'audio'; readonly source: AudioSource; readonly audio: Buffer | undefined }
  | { readonly kind: 'text'; readonly text: string };

export interface WantedTarget {
  readonly language: Language;
  readonly isVoiceWanted: boolean;
}

export type PartKind = 'text' | 'voice';

/** What the caller gets one outcome for: the text of a language, or its voice. */
export interface PlanPart {
  readonly language: Language;
  readonly kind: PartKind;
}

/** Ids from outside cannot begin with `~`, and have no slash. */
export const requestIdOf = (name: string, product: string): string => `~${name}/${product}`;

/** With what the request ids of all jobs of a plan begin. Undefined: this job is in none. */
export const planPrefixOf = (requestId: string | undefined): string | undefined =>
  requestId?.startsWith('~') ? requestId.slice(0, requestId.lastIndexOf('/') + 1) : undefined;

/** The name of the plan of this job. Undefined: it is in none. */
export const planNameOf = (requestId: string | undefined): string | undefined =>
  planPrefixOf(requestId)?.slice(1, -1);

/** The request id that the caller sent, also of a job that is one part of a plan. */
export const callersIdOf = (requestId: string): string =>
  /^~[^/]*\/(.*)\/[^/]*$/.exec(requestId)?.[1] ?? requestId;

export interface PlanRequest {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  /** The request ids of its jobs derive from it: the same name finds the same jobs again, on any instance. */
  readonly name: string;
  /** Digest of the input: a name with another fingerprint is refused. */
  readonly fingerprint: string;
  readonly input: PlanInput;
  /** Or `auto`: the language is recognised first. */
  readonly source: Language;
  /** One entry per language. */
  readonly wanted: readonly WantedTarget[];
  /** What all jobs of the plan have in common. */
  readonly spec: Omit<
    JobSpec,
    'sourceLanguage' | 'targetLanguage' | 'pipeline' | 'inputText' | 'sourceText' | 'stages' | 'audio'
  >;
  readonly need: Pick<Need, 'needsPublicNode'> &
    Partial<Pick<Need, 'preferredPoolId' | 'region' | 'features' | 'types' | 'services'>>;
  /** Of all its jobs. */
  readonly deadlineAt: number;
  /** How long one job may wait for a slot; never past the deadline. */
  readonly waitMs: number;
  readonly priority?: Priority | undefined;
}

/** The same work as a plan: what the whole job sends to its node, and needs of it, without its stages and languages. */
export function planOfJob(
  { tenantId, sessionId, need, spec, audio, waitMs, priority }: DispatchRequest,
  plan: Pick<PlanRequest, 'name' | 'fingerprint' | 'wanted' | 'deadlineAt'>,
): PlanRequest {
  const {
    sourceLanguage: source,
    targetLanguage: _target,
    pipeline: _pipeline,
    inputText,
    audio: held,
    ...common
  } = spec;
  const { needsPublicNode, preferredPoolId, region, types, services, features } = need;
  return {
    tenantId,
    sessionId,
    ...plan,
    input:
      inputText === undefined ? { kind: 'audio', source: held, audio } : { kind: 'text', text: inputText },
    source,
    spec: common,
    need: { needsPublicNode, preferredPoolId, region, types, services, features },
    waitMs,
    priority,
  };
}

/** A job from one speaker to one language, of whose stages no node is named: several nodes may do it together. Undefined: it is not. */
export function wantedOfJob({ need, spec }: DispatchRequest): WantedTarget | undefined {
  const { pipeline } = spec;
  const isPlain =
    pipeline.use_nmt && !pipeline.use_tone && pipeline.use_asr === (spec.inputText === undefined);
  if (!isPlain || need.directions.length !== 1 || need.preferredNodeId !== undefined) return undefined;
  return { language: spec.targetLanguage, isVoiceWanted: pipeline.use_tts };
}

export type PartOutcome =
  | {
      /** Text: `textAsr` is the text in the source language, and no speech. Voice: the speech. A whole job has both. */
      readonly kind: 'result';
      readonly result: JobResult;
      /** Absent: the text is the input. */
      readonly job: JobRecord | undefined;
    }
  | {
      readonly kind: 'failed';
      /** Nodes report codes of their own. */
      readonly code: ErrorCode | string;
      readonly message: string;
      readonly hint?: string | undefined;
      readonly reasons?: readonly RejectionCount[] | undefined;
      /** `null`: a retry alone does not help. Absent: not known. */
      readonly retryAfterMs?: number | null | undefined;
      /** The job that failed; absent: none was accepted. */
      readonly job?: JobRecord | undefined;
    };

/** Its methods are called synchronously and must not throw. */
export interface PlanListener {
  /** At most once: the first job is recorded, or was found. */
  admitted(): void;
  /** At most once. */
  recognised(text: string, language: Language): void;
  /** A job that these parts need has moved. */
  moved(parts: readonly PlanPart[], job: JobRecord): void;
  /** Exactly once per wanted part, unless the part was cancelled or the plan left. */
  settled(part: PlanPart, outcome: PartOutcome): void;
}

export interface RunningPlan {
  /** Without a part: everything. Jobs that a remaining part needs go on. */
  cancel(reason: string, code: ErrorCode, part?: PlanPart): void;
  /** Calls the listener no more and starts nothing; its jobs go on. */
  leave(): void;
}

export interface PlanRunner {
  /** Never throws: a fault fails the parts that it concerns. */
  run(request: PlanRequest, listener: PlanListener): RunningPlan;
}
