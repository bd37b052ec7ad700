/** Vocabulary: what a node can do. Both generations of the protocol become this one shape. */
import type { TenantId } from './ids.ts';
import { ANY, type Direction, type Language, type LanguageSet } from './language.ts';
import type { Region } from './region.ts';

/** Stages of the pipeline, and the optional ones of a job. Nodes may report more: those are informational. */
export const SERVICE_TYPES = ['asr', 'nmt', 'tts', 'tone', 'semantic'] as const;
export type ServiceType = (typeof SERVICE_TYPES)[number];

/**
 * The translations of a node: every source to every target, except `blocked`, plus `pairs`. A product, because a hundred languages
 * any-to-any are 9,900 pairs.
 */
export interface NmtAbility {
  readonly sources: LanguageSet;
  readonly targets: LanguageSet;
  readonly blocked: readonly Direction[];
  readonly pairs: readonly Direction[];
}

/** Extensions that a node supports. A node without any is a legacy node (see docs/protocol.md). */
export const NODE_EXTENSIONS = [
  'job_ack',
  'audio_ref',
  'drain',
  'cancel_ack',
  'text_input',
  'stage_results',
  'glossary',
  'interim',
] as const;
export type NodeExtension = (typeof NODE_EXTENSIONS)[number];

/** What a node's token is bound to. It decides about dedicated pools, because services and languages are the node's own words. */
export interface NodeBinding {
  readonly tenantId?: TenantId;
  /** The only pools that the node may join; absent: every pool that is not dedicated. */
  readonly poolIds?: readonly number[];
  /** Where its nodes are, whatever they say. */
  readonly region?: Region;
}

/** Immutable, and shared by all nodes with equal reports: compare by identity. */
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
  /** The only tenant whose jobs the node takes; absent: all. */
  readonly privateTo?: TenantId;
  /** Absent: it may join every pool, because the server has no tokens or the token is an operator's. */
  readonly binding?: NodeBinding;
  readonly supports: readonly NodeExtension[];
  /** The node reports no extensions: a legacy node. */
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

/** The readable rule; the fleet's bitmaps compute the same for all nodes at once. */
export function translates(nmt: NmtAbility, source: Language, target: Language): boolean {
  if (names(nmt.pairs, source, target)) return true;
  if (source === target) return false;
  const isInProduct =
    (nmt.sources === ANY || nmt.sources.includes(source)) &&
    (nmt.targets === ANY || nmt.targets.includes(target));
  return isInProduct && !names(nmt.blocked, source, target);
}
