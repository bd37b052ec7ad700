/** Vocabulary: what a job needs of a node. Selection reads nothing else of a job. */
import type { NodeId, SessionId, TenantId } from './ids.ts';
import type { ANY, Direction, Language } from './language.ts';
import type { Region } from './region.ts';

/** `any` as source: the node recognises the language. */
export interface NeededDirection {
  readonly source: Language | typeof ANY;
  readonly target: Language;
}

export interface Need {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  /** One node must be able to do all of them: two in a two-way conversation. */
  readonly directions: readonly NeededDirection[];
  /** The client sent `auto`: if no node is left for the languages, this is the reason. */
  readonly isSourceAuto: boolean;
  readonly usesAsr: boolean;
  readonly usesNmt: boolean;
  readonly usesTts: boolean;
  /** The input is typed text, or text that another job has repaired. Absent: semantic repair is needed. */
  readonly skipsSemantic?: boolean | undefined;
  /** The input is text: only nodes that take text input can take the job. */
  readonly isTextInput?: boolean | undefined;
  /** The speaker goes on: only nodes that recognise unfinished speech can take the job. */
  readonly isInterim?: boolean | undefined;
  /** A part of what an utterance needs: legacy nodes take only whole jobs with audio. */
  readonly isPartial?: boolean | undefined;
  /** Further service types (`tone`) and service ids, required ready. */
  readonly types: readonly string[];
  readonly services: readonly string[];
  /** Features with everything they depend on, sorted; absent = none. */
  readonly features?: readonly string[] | undefined;
  /** The audio is a reference to another server: only nodes that fetch audio can take the job. */
  readonly isAudioByReference: boolean;
  /** `auto` without a language pair: legacy nodes cannot do that. */
  readonly isPairUnknown: boolean;
  /** Nodes that are private to another tenant do not count; false only to simulate. */
  readonly needsPublicNode: boolean;
  readonly preferredNodeId?: NodeId | undefined;
  /** With a preferred node: that node or an error. */
  readonly isStrict: boolean;
  /** Nodes in or near it are tried first; absent: the region of the instance. */
  readonly region?: Region | undefined;
  /** The preferred pool of the session, if there are pools; absent: chosen by hash. */
  readonly preferredPoolId?: number | undefined;
}

export type { Direction };

/**
 * Why a node was excluded, stage by stage. The first reason in this order counts for a node. Each stage judges the nodes that passed the one
 * before: the first stage that leaves no node has the cause of a refusal.
 */
export const REJECTION_STAGES = {
  /** Has the languages and services. */
  can: [
    'asr_lang_unsupported',
    'semantic_lang_unsupported',
    'lang_pair_unsupported',
    'tts_lang_unsupported',
    'src_auto_no_candidate',
    'service_not_installed',
    'feature_unsupported',
  ],
  /** Fits the kind of audio, the tenant and the pools of the job. */
  may: [
    'audio_ref_unsupported',
    'text_input_unsupported',
    'interim_unsupported',
    'whole_jobs_only',
    'not_in_public_pool',
    'outside_residency',
    'gpu_unavailable',
    'not_in_pool',
  ],
  ready: [
    'disconnected',
    'offline',
    'status_not_ready',
    'stale_heartbeat',
    'cordoned',
    'ejected',
    'model_not_available',
    'excluded',
    'resource_threshold_exceeded',
  ],
  room: ['capacity_exceeded', 'reserve_denied'],
} as const;

export type RejectionStage = keyof typeof REJECTION_STAGES;
export type Rejection = (typeof REJECTION_STAGES)[RejectionStage][number];

export const REJECTIONS: readonly Rejection[] = Object.values(REJECTION_STAGES).flat();

const STAGE_OF: ReadonlyMap<Rejection, RejectionStage> = new Map(
  (Object.keys(REJECTION_STAGES) as RejectionStage[]).flatMap((stage) =>
    REJECTION_STAGES[stage].map((reason): [Rejection, RejectionStage] => [reason, stage]),
  ),
);

export const stageOf = (reason: Rejection): RejectionStage => STAGE_OF.get(reason) as RejectionStage;

/** The judged reason of a refusal. `no_nodes`: none is registered. `not_registered`: the strict preferred node. */
export type RefusalReason = Rejection | 'no_nodes' | 'not_registered';

export interface RejectionCount {
  readonly reason: Rejection;
  readonly count: number;
  readonly sampleNodeIds: readonly NodeId[];
}
