/**
 * Vocabulary: pools. The languages and services of a job determine which nodes *can* do it; pools determine which *may*. The pool of a node
 * is derived from its profile, so every instance computes the same one and nothing is stored. Pure.
 */
import type { NodeId, TenantId } from './ids.ts';
import { ANY, type Direction, includesLanguage, type Language } from './language.ts';
import { type NodeBinding, type NodeProfile, SERVICE_TYPES, translates } from './profile.ts';
import type { Place, Region } from './region.ts';
import { stableChoice } from './stable-hash.ts';

export type PoolId = number;

/** The name for nodes without a pool. No tenant can be bound to it, and no pool can have this name. */
export const UNPOOLED: PoolId = -1;

/** Languages that a node of a pool must have. Absent: any. */
export interface PoolLanguages {
  readonly asr: readonly Language[];
  readonly tts: readonly Language[];
  readonly semantic: readonly Language[];
  readonly pairs: readonly Direction[];
}

export interface Pool {
  readonly poolId: PoolId;
  readonly name: string;
  /** Each is a service id, a service type or a feature. Empty: the pool takes every node that no other pool takes. */
  readonly requiredServices: readonly string[];
  readonly languages?: PoolLanguages;
  /** Where its nodes are; absent: anywhere. */
  readonly regions?: readonly Region[];
  /** Only for tenants that are bound to the pool. */
  readonly isDedicated: boolean;
}

export type CoreStage = 'asr' | 'nmt' | 'tts';
export const CORE_STAGES: readonly CoreStage[] = ['asr', 'nmt', 'tts'];

/** Service ids that the configuration names as the core of a stage; absent: any service of the type. */
export type CoreIds = Readonly<Partial<Record<CoreStage, string>>>;

export interface PoolPlan {
  /** Empty: nodes are spread by hash over `bucketCount` pools. */
  readonly pools: readonly Pool[];
  readonly bucketCount: number;
  readonly hashSeed: number;
  readonly tenantPools: ReadonlyMap<TenantId, PoolId>;
  /** Whether a pool must offer the core services of a job, or everything it requires. */
  readonly matchScope: 'core_only' | 'all_required';
  /** Whether a pool may offer more than that. */
  readonly matchMode: 'contains' | 'exact';
  /** A job stays in the pool of its tenant, and fails if no pool is eligible for it. */
  readonly isStrict: boolean;
  /** Other pools are tried after the preferred one. */
  readonly fallsBack: boolean;
  readonly core: CoreIds;
  /** Of jobs that name no region. */
  readonly ownRegion?: Region | undefined;
}

const TYPES: ReadonlySet<string> = new Set(SERVICE_TYPES);

export const isServiceType = (name: string): boolean => TYPES.has(name);

export const poolIdsOf = ({ pools, bucketCount }: PoolPlan): readonly PoolId[] =>
  pools.length > 0
    ? pools.map(({ poolId }) => poolId)
    : Array.from({ length: bucketCount }, (_, bucket) => bucket);

/** The pools that the node's token allows. What the node says about itself does not matter here (I10). */
export function allowedPools(plan: PoolPlan, binding: NodeBinding | undefined): readonly PoolId[] {
  const all = poolIdsOf(plan);
  if (binding === undefined) return all;
  const { tenantId, poolIds } = binding;
  if (poolIds !== undefined) return all.filter((poolId) => poolIds.includes(poolId));
  // A node of these pools receives what a tenant says.
  const guarded = new Set(plan.tenantPools.values());
  for (const { poolId, isDedicated } of plan.pools) if (isDedicated) guarded.add(poolId);
  const own = tenantId === undefined ? undefined : plan.tenantPools.get(tenantId);
  return all.filter((poolId) => poolId === own || !guarded.has(poolId));
}

/** Those of the region, or all if none names it. */
export function poolsNear(plan: PoolPlan, poolIds: readonly PoolId[], region: Region): readonly PoolId[] {
  const near = new Set(
    plan.pools.flatMap(({ poolId, regions }) => (regions?.includes(region) ? poolId : [])),
  );
  const found = poolIds.filter((poolId) => near.has(poolId));
  return found.length === 0 ? poolIds : found;
}

/** A node that fits several pools goes to one of the most specific, always the same. */
export function homeOf(plan: PoolPlan, nodeId: NodeId, fitting: readonly PoolId[]): PoolId {
  if (fitting.length === 0) return UNPOOLED;
  return fitting[stableChoice(nodeId, plan.hashSeed, fitting.length)] as PoolId;
}

/** The most specific pools that such a node may join and fits: those that require most services, of these most languages, and of these a region. */
export function fittingPools(plan: PoolPlan, profile: NodeProfile, region?: Region): readonly PoolId[] {
  const allowed = allowedPools(plan, profile.binding);
  if (plan.pools.length === 0) return allowed;
  const mayJoin = new Set(allowed);
  let best: Pool[] = [];
  for (const pool of plan.pools) {
    if (!mayJoin.has(pool.poolId) || !fits(pool, profile, { region })) continue;
    const lead = best[0] === undefined ? 1 : compareSpecificity(pool, best[0]);
    if (lead > 0) best = [pool];
    else if (lead === 0) best.push(pool);
  }
  return best.map(({ poolId }) => poolId).sort((a, b) => a - b);
}

export const fits = (pool: Pool, profile: NodeProfile, { region }: Place = {}): boolean =>
  (pool.regions === undefined || (region !== undefined && pool.regions.includes(region))) &&
  pool.requiredServices.every((name) => offers(profile, name)) &&
  (pool.languages === undefined || supportsLanguages(profile, pool.languages));

/** Installed is enough: the current state of a service does not matter. */
export const offers = (profile: NodeProfile, name: string): boolean =>
  profile.installedServices.includes(name) ||
  profile.features.includes(name) ||
  (isServiceType(name) && (profile.installedTypes === ANY || profile.installedTypes.includes(name)));

const supportsLanguages = (profile: NodeProfile, { asr, tts, semantic, pairs }: PoolLanguages): boolean =>
  asr.every((language) => includesLanguage(profile.asr, language)) &&
  tts.every((language) => includesLanguage(profile.tts, language)) &&
  semantic.every((language) => includesLanguage(profile.semantic, language)) &&
  pairs.every(({ source, target }) => translates(profile.nmt, source, target));

const compareSpecificity = (one: Pool, other: Pool): number =>
  one.requiredServices.length - other.requiredServices.length ||
  languagesOf(one) - languagesOf(other) ||
  Number(one.regions !== undefined) - Number(other.regions !== undefined);

const languagesOf = ({ languages }: Pool): number =>
  languages === undefined
    ? 0
    : languages.asr.length + languages.tts.length + languages.semantic.length + languages.pairs.length;

/** What a job requires, as far as pools need it. */
export interface PoolRequirement {
  readonly stages: readonly CoreStage[];
  /** Service ids, service types and features beyond the stages. */
  readonly names: readonly string[];
}

/** Whether jobs of this kind may go to the pool, by what all its nodes have. */
export function isEligible(plan: PoolPlan, pool: Pool, required: PoolRequirement): boolean {
  const listed = pool.requiredServices;
  const names = plan.matchScope === 'all_required' ? required.names : [];
  if (listed.length === 0 || (required.stages.length === 0 && names.length === 0)) return true;
  const isCovered =
    required.stages.every((stage) => coversStage(pool, stage, plan.core[stage])) &&
    names.every((name) => listed.includes(name));
  if (!isCovered || plan.matchMode === 'contains') return isCovered;
  const allowed = new Set<string>(names);
  for (const stage of required.stages) allowed.add(stage).add(plan.core[stage] ?? stage);
  return listed.every((name) => allowed.has(name));
}

/** A stage without a service id is required by type, and a pool without types says nothing about types. */
const coversStage = ({ requiredServices }: Pool, stage: CoreStage, id: string | undefined): boolean =>
  requiredServices.includes(stage) ||
  (id === undefined ? !requiredServices.some(isServiceType) : requiredServices.includes(id));
