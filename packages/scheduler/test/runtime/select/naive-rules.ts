/** The rules of selection in readable form, node by node. Slow on purpose: the specification of the bitmaps. */

import { FEATURES } from '../../../src/domain/features.ts';
import { ANY, includesLanguage, type Language } from '../../../src/domain/language.ts';
import type { Load } from '../../../src/domain/lease.ts';
import type { NeededDirection, Rejection } from '../../../src/domain/need.ts';
import type { NodeView } from '../../../src/domain/node.ts';
import { type NmtAbility, type NodeProfile, translates } from '../../../src/domain/profile.ts';
import { type NamedNeed, namedPoolsOf } from '../fleet/named-pools.ts';

/** A node's view and load in a plain map. */
export interface PlainNode {
  readonly view: NodeView;
  readonly load: Load;
}

/** Stands for "any other language": no test uses it. */
const OTHER = 'xx';

const translatesInto = (nmt: NmtAbility, target: Language): boolean => {
  const named = [...nmt.pairs.map(({ source }) => source), ...(nmt.sources === ANY ? [OTHER] : nmt.sources)];
  return named.some((source) => translates(nmt, source, target));
};

function languageFailures(
  profile: NodeProfile,
  need: NamedNeed,
  { source, target }: NeededDirection,
): Rejection[] {
  const failed: Rejection[] = [];
  if (need.usesAsr && source !== ANY && !includesLanguage(profile.asr, source))
    failed.push('asr_lang_unsupported');
  if (!need.skipsSemantic && source !== ANY && !includesLanguage(profile.semantic, source))
    failed.push('semantic_lang_unsupported');
  const isTranslated =
    source === ANY ? translatesInto(profile.nmt, target) : translates(profile.nmt, source, target);
  if (need.usesNmt && !isTranslated) failed.push('lang_pair_unsupported');
  if (need.usesTts && !includesLanguage(profile.tts, target)) failed.push('tts_lang_unsupported');
  return failed;
}

/** All reasons against the node, unordered. */
export function naiveFailures({ view, load }: PlainNode, need: NamedNeed): Set<Rejection> {
  const { profile } = view;
  const failed = new Set<Rejection>();
  for (const direction of need.directions) {
    for (const reason of languageFailures(profile, need, direction)) {
      failed.add(need.isSourceAuto ? 'src_auto_no_candidate' : reason);
    }
  }
  if (need.isPairUnknown && profile.isLegacy) failed.add('src_auto_no_candidate');
  const types = [...need.types];
  if (!need.skipsSemantic) types.push('semantic');
  if (need.usesAsr) types.push('asr');
  if (need.usesNmt) types.push('nmt');
  if (need.usesTts) types.push('tts');
  for (const type of types) {
    if (!includesLanguage(profile.installedTypes, type)) failed.add('service_not_installed');
    if (!includesLanguage(profile.readyTypes, type)) failed.add('model_not_available');
    if (view.markedTypes.includes(type)) failed.add('model_not_available');
  }
  for (const service of need.services) {
    if (!profile.installedServices.includes(service)) failed.add('service_not_installed');
    const isReady = profile.readyServices.includes(service) && !view.markedServices.includes(service);
    if (!isReady) failed.add('model_not_available');
  }
  for (const feature of need.features ?? []) {
    if (!profile.features.includes(feature)) failed.add('feature_unsupported');
    const providers = FEATURES.get(feature)?.providers ?? [];
    if (providers.some((id) => view.markedServices.includes(id))) failed.add('model_not_available');
  }
  if (need.isAudioByReference && !profile.supports.includes('audio_ref')) failed.add('audio_ref_unsupported');
  if (need.isTextInput && !profile.supports.includes('text_input')) failed.add('text_input_unsupported');
  if (need.isInterim && !profile.supports.includes('interim')) failed.add('interim_unsupported');
  if (need.isPartial && profile.isLegacy) failed.add('whole_jobs_only');
  const isOthers = profile.privateTo !== undefined && profile.privateTo !== need.tenantId;
  if (need.needsPublicNode && isOthers) failed.add('not_in_public_pool');
  if (need.poolIds !== undefined && !need.poolIds.some((id) => namedPoolsOf(profile).includes(id))) {
    failed.add('not_in_pool');
  }
  if (!view.isConnected) failed.add('disconnected');
  if (view.health === 'offline') failed.add('offline');
  if (view.health !== 'ready') failed.add('status_not_ready');
  if (!view.isFresh) failed.add('stale_heartbeat');
  if (view.isCordoned) failed.add('cordoned');
  if (view.isEjected) failed.add('ejected');
  if (!view.isCalm) failed.add('resource_threshold_exceeded');
  if (load.used >= load.max) failed.add('capacity_exceeded');
  return failed;
}
