/** Vocabulary: what a compute node can do. Both capability generations become this one shape. */
import { ANY, type Direction, type Language, type LanguageSet } from './language.ts';

/** Stages of the pipeline, and the optional ones a job may ask for. Nodes may name more: those are informational. */
export const SERVICE_TYPES = ['asr', 'nmt', 'tts', 'tone', 'semantic'] as const;
export type ServiceType = (typeof SERVICE_TYPES)[number];

/**
 * Which translations a node can do: every source to every target, less `blocked`, plus `pairs`.
 * Rules are kept as a product because a hundred languages any-to-any are 9,900 pairs.
 */
export interface NmtAbility {
  readonly sources: LanguageSet;
  readonly targets: LanguageSet;
  readonly blocked: readonly Direction[];
  readonly pairs: readonly Direction[];
}

/** Extensions a node understands. A node that names none is a "deployed" node (see docs/protocol.md). */
export const NODE_EXTENSIONS = ['job_ack', 'audio_ref', 'drain', 'cancel_ack'] as const;
export type NodeExtension = (typeof NODE_EXTENSIONS)[number];

/** Immutable, and shared by all nodes that say the same: compare by identity. */
export interface NodeProfile {
  readonly installedTypes: typeof ANY | readonly string[];
  readonly readyTypes: typeof ANY | readonly string[];
  readonly installedServices: readonly string[];
  readonly readyServices: readonly string[];
  readonly asr: LanguageSet;
  readonly semantic: LanguageSet;
  readonly tts: LanguageSet;
  readonly nmt: NmtAbility;
  readonly features: readonly string[];
  readonly hasGpu: boolean;
  readonly acceptsPublicJobs: boolean;
  readonly supports: readonly NodeExtension[];
  /** Says nothing of extensions: lives by the rules of the legacy programs. */
  readonly isLegacy: boolean;
}

const NO_PAIRS: readonly Direction[] = [];

export const nmtProduct = (sources: LanguageSet, targets: LanguageSet): NmtAbility => ({
  sources,
  targets,
  blocked: NO_PAIRS,
  pairs: NO_PAIRS,
});

const names = (pairs: readonly Direction[], source: Language, target: Language): boolean =>
  pairs.some((pair) => pair.source === source && pair.target === target);

/** The readable rule; the fleet's bitmaps answer the same question for all nodes at once. */
export function translates(nmt: NmtAbility, source: Language, target: Language): boolean {
  if (names(nmt.pairs, source, target)) return true;
  if (source === target) return false;
  const isInProduct =
    (nmt.sources === ANY || nmt.sources.includes(source)) &&
    (nmt.targets === ANY || nmt.targets.includes(target));
  return isInProduct && !names(nmt.blocked, source, target);
}
