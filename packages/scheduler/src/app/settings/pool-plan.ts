/** Composition root: the plan of pools, from the configuration. Pure. */
import type { Config } from '../../config/settings.ts';
import { type Direction, foldLanguage, foldLanguages } from '../../domain/language.ts';
import type { CoreIds, Pool, PoolLanguages, PoolPlan } from '../../domain/pool.ts';
import { stableHash } from '../../domain/stable-hash.ts';

/** Undefined: the whole fleet is one pool. */
export function poolPlanOf(config: Config): PoolPlan | undefined {
  const { pools } = config.scheduler;
  if (!pools.enabled) return undefined;
  return {
    pools: pools.pools.map(poolOf),
    bucketCount: pools.pool_count,
    hashSeed: pools.hash_seed,
    tenantPools: new Map(pools.tenant_overrides.map(({ tenant_id, pool_id }) => [tenant_id, pool_id])),
    matchScope: pools.pool_match_scope,
    matchMode: pools.pool_match_mode,
    isStrict: pools.strict_pool_eligibility,
    fallsBack: pools.fallback_scan_all_pools,
    core: coreIdsOf(config),
    ...(config.scheduler.regions.own !== undefined && { ownRegion: config.scheduler.regions.own }),
  };
}

/** Eight hexadecimal digits, equal for equal plans: operators see whether instances agree. */
export function poolDigest(plan: PoolPlan): string {
  const { pools, bucketCount, tenantPools } = plan;
  const text = JSON.stringify({
    ...plan,
    // Instances of several regions have the same plan.
    ownRegion: undefined,
    bucketCount: pools.length > 0 ? 0 : bucketCount,
    tenantPools: [...tenantPools].sort(([one], [other]) => (one < other ? -1 : 1)),
  });
  return stableHash(text).toString(16).padStart(8, '0');
}

export function coreIdsOf({ scheduler: { core_services: core } }: Config): CoreIds {
  return {
    ...(core.asr_service_id !== '' && { asr: core.asr_service_id }),
    ...(core.nmt_service_id !== '' && { nmt: core.nmt_service_id }),
    ...(core.tts_service_id !== '' && { tts: core.tts_service_id }),
  };
}

type PoolRow = Config['scheduler']['pools']['pools'][number];
type LanguageRow = NonNullable<PoolRow['language_requirements']>;
type TranslationRow = NonNullable<LanguageRow['nmt_requirements']>;

function poolOf({
  pool_id,
  name,
  required_services,
  language_requirements,
  regions,
  dedicated,
}: PoolRow): Pool {
  return {
    poolId: pool_id,
    name,
    requiredServices: [...new Set(required_services)],
    isDedicated: dedicated,
    ...(regions.length > 0 && { regions: [...new Set(regions)].sort() }),
    ...(language_requirements !== undefined && { languages: languagesOf(language_requirements) }),
  };
}

function languagesOf(row: LanguageRow): PoolLanguages {
  const { asr_languages: asr = [], tts_languages: tts = [], semantic_languages: semantic = [] } = row;
  return {
    asr: foldLanguages(asr),
    tts: foldLanguages(tts),
    semantic: foldLanguages(semantic),
    pairs: row.nmt_requirements === undefined ? [] : pairsOf(row.nmt_requirements),
  };
}

/** The rule as a list: a node of the pool must support every entry. */
function pairsOf({
  languages = [],
  rule,
  supported_pairs = [],
  blocked_pairs = [],
}: TranslationRow): Direction[] {
  const named = foldLanguages(languages);
  const blocked = new Set(blocked_pairs.map(({ src, tgt }) => `${foldLanguage(src)}>${foldLanguage(tgt)}`));
  return allPairs(rule, named, supported_pairs).filter(
    ({ source, target }) => source !== target && !blocked.has(`${source}>${target}`),
  );
}

function allPairs(
  rule: TranslationRow['rule'],
  named: readonly string[],
  pairs: readonly { readonly src: string; readonly tgt: string }[],
): Direction[] {
  switch (rule) {
    case 'any_to_any':
      return named.flatMap((source) => named.map((target) => ({ source, target })));
    case 'any_to_en':
      return named.map((source) => ({ source, target: 'en' }));
    case 'en_to_any':
      return named.map((target) => ({ source: 'en', target }));
    case 'specific_pairs':
      return pairs.map(({ src, tgt }) => ({ source: foldLanguage(src), target: foldLanguage(tgt) }));
  }
}
