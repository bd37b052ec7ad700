/** Hot path: a need as conditions on the facts of a node, each with the reason to give when it fails. Pure. */
import { FEATURES } from '../../domain/features.ts';
import type { TenantId } from '../../domain/ids.ts';
import { ANY, type Language } from '../../domain/language.ts';
import type { Need, NeededDirection, Rejection } from '../../domain/need.ts';
import type { NodeProfile } from '../../domain/profile.ts';
import type { Region } from '../../domain/region.ts';
import { factKey, type Stage } from '../fleet/fact-key.ts';
import { all, any, type Clause, type Formula, none } from '../fleet/formula.ts';

/**
 * Conditions on a node's abilities, its place and marks; the conditions on its state are the same for every need. `residency`: the only
 * regions that the tenant allows.
 */
export function clausesOf(
  need: Need,
  residency: readonly Region[] | undefined,
  { checksMarks = true, hasOwnNodes = true } = {},
): Clause[] {
  const types = requiredTypes(need);
  const features = need.features ?? [];
  return [
    ...languageClauses(need),
    clause('service_not_installed', [
      ...types.map((type) => any(factKey.hasType(type), factKey.hasAnyType)),
      ...need.services.map(factKey.hasService),
    ]),
    clause('feature_unsupported', features.map(factKey.feature)),
    clause('audio_ref_unsupported', need.isAudioByReference ? [factKey.supports('audio_ref')] : []),
    clause('text_input_unsupported', need.isTextInput ? [factKey.supports('text_input')] : []),
    clause('interim_unsupported', need.isInterim ? [factKey.supports('interim')] : []),
    clause('whole_jobs_only', need.isPartial ? [none(factKey.legacy)] : []),
    clause('not_in_public_pool', need.needsPublicNode ? [isOpenTo(need.tenantId, hasOwnNodes)] : []),
    // Also with one region: an empty list would be no condition.
    clause('outside_residency', residency === undefined ? [] : [any(...residency.map(factKey.inRegion))]),
    clause('model_not_available', [
      ...types.map((type) => any(factKey.readyType(type), factKey.readyAnyType)),
      ...need.services.map(factKey.readyService),
      ...(checksMarks ? [none(...markKeys(need))] : []),
    ]),
  ].filter(({ formula }) => typeof formula === 'string' || formula.of.length > 0);
}

/** The keys of marks that exclude a node: a named service, a service that provides a feature, or a whole required type. */
export const markKeys = (need: Need): string[] => [
  ...requiredTypes(need).map(factKey.markedType),
  ...[...need.services, ...(need.features ?? []).flatMap(providersOf)].map(factKey.marked),
];

/** The parts of `usable` (fleet/fleet-view.ts), one by one. */
export const STATUS_CLAUSES: readonly Clause[] = [
  { reason: 'disconnected', formula: 'connected' },
  { reason: 'offline', formula: none('offline') },
  { reason: 'status_not_ready', formula: 'ready' },
  { reason: 'stale_heartbeat', formula: 'fresh' },
  { reason: 'cordoned', formula: none('cordoned') },
  { reason: 'ejected', formula: none('ejected') },
  { reason: 'resource_threshold_exceeded', formula: 'calm' },
  { reason: 'capacity_exceeded', formula: 'free' },
];

/** `keys`: the facts of the pools that the job may use. */
export const poolClause = (keys: readonly string[]): Clause => ({
  reason: 'not_in_pool',
  formula: any(...keys),
});

/** A node with a feature may have a mark on the service that provides it. */
const providersOf = (flag: string): readonly string[] => FEATURES.get(flag)?.providers ?? [];

/** Recognised speech requires semantic repair, whatever the pipeline says. */
export function requiredTypes(need: Need): string[] {
  const types = new Set(need.types);
  if (!need.skipsSemantic) types.add('semantic');
  if (need.usesAsr) types.add('asr');
  if (need.usesNmt) types.add('nmt');
  if (need.usesTts) types.add('tts');
  return [...types];
}

function languageClauses(need: Need): Clause[] {
  const known = need.directions.filter(({ source }) => source !== ANY);
  const asr = need.usesAsr ? known.map(({ source }) => supportsLanguage('asr', source)) : [];
  const semantic = need.skipsSemantic ? [] : known.map(({ source }) => supportsLanguage('semantic', source));
  const nmt = need.usesNmt ? need.directions.map(translation) : [];
  const tts = need.usesTts ? need.directions.map(({ target }) => supportsLanguage('tts', target)) : [];
  // Legacy nodes cannot take `auto` without a pair.
  const field = need.isPairUnknown ? [none(factKey.legacy)] : [];
  if (need.isSourceAuto) {
    return [clause('src_auto_no_candidate', [...asr, ...semantic, ...nmt, ...tts, ...field])];
  }
  return [
    clause('asr_lang_unsupported', asr),
    clause('semantic_lang_unsupported', semantic),
    clause('lang_pair_unsupported', nmt),
    clause('tts_lang_unsupported', tts),
    clause('src_auto_no_candidate', field),
  ];
}

/** `hasOwnNodes` false: no node is private to the tenant, so that the condition is the same for all such tenants. */
const isOpenTo = (tenantId: TenantId, hasOwnNodes: boolean): Formula =>
  hasOwnNodes ? any(factKey.privateTo(tenantId), none(factKey.private)) : none(factKey.private);

/** The same for one node: it is private to another tenant than that of the job. */
export const isClosedTo = ({ tenantId, needsPublicNode }: Need, { privateTo }: NodeProfile): boolean =>
  needsPublicNode && privateTo !== undefined && privateTo !== tenantId;

const clause = (reason: Rejection, of: Formula[]): Clause => ({ reason, formula: all(...of) });

const supportsLanguage = (stage: Stage, language: Language): Formula =>
  any(factKey.supportsLanguage(stage, language), factKey.supportsAnyLanguage(stage));

/** The rule `translates` of domain/profile.ts, for all nodes at once. */
function translation({ source, target }: NeededDirection): Formula {
  if (source === ANY) {
    return any(factKey.nmtInto(target), all(factKey.nmtIntoAny, none(factKey.nmtNotInto(target))));
  }
  const pair = factKey.nmtPair(source, target);
  if (source === target) return pair;
  return any(
    pair,
    all(
      any(factKey.nmtFrom(source), factKey.nmtFromAny),
      any(factKey.nmtTo(target), factKey.nmtToAny),
      none(factKey.nmtBlocked(source, target)),
    ),
  );
}
