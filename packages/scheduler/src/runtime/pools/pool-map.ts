/**
 * Hot path: one plan of pools: the pools of a node, and the pools that a job may use, in order. Both come from one object, so that
 * a job never uses the pools of another plan. Pure except for its caches.
 */
import { DEFAULT_TENANT } from '../../domain/ids.ts';
import type { Need } from '../../domain/need.ts';
import type { NodeView } from '../../domain/node.ts';
import {
  CORE_STAGES,
  type CoreStage,
  fittingPools,
  homeOf,
  isEligible,
  type Pool,
  type PoolId,
  type PoolPlan,
  type PoolRequirement,
  poolIdsOf,
  poolsNear,
  UNPOOLED,
} from '../../domain/pool.ts';
import type { NodeProfile } from '../../domain/profile.ts';
import type { Region } from '../../domain/region.ts';
import { stableChoice } from '../../domain/stable-hash.ts';

/** Why a job may not use other pools, or any pool. */
export type Confinement =
  | { readonly kind: 'tenant_pool' | 'tenant_pool_not_eligible'; readonly poolId: PoolId }
  | { readonly kind: 'no_fallback'; readonly poolId: PoolId }
  | { readonly kind: 'no_eligible_pool' };

export interface PoolRoute {
  /** No pool is eligible: every pool of the route counts as a fallback. */
  readonly isFallback?: boolean;
  readonly poolIds: readonly PoolId[];
  /** The index of the preferred pool; the others follow in the order of the list, which wraps around. */
  readonly start: number;
  /** How many pools may be tried. */
  readonly count: number;
  readonly confinement: Confinement | undefined;
}

export interface PoolMap {
  readonly plan: PoolPlan;
  poolsOf(view: Pick<NodeView, 'nodeId' | 'profile' | 'region'>): readonly PoolId[];
  /** Undefined: every node. */
  route(need: Need): PoolRoute | undefined;
  /** Pools that list what such a job requires, for any tenant. */
  eligible(need: Need): readonly PoolId[];
}

/** Kinds of jobs cached; a few thousand would be unusual. */
const MAX_KINDS = 4_096;
const NONE: readonly PoolId[] = [];

export function createPoolMap(plan: PoolPlan): PoolMap {
  const all = poolIdsOf(plan);
  const byId = new Map(plan.pools.map((pool) => [pool.poolId, pool]));
  const isOpen = (poolId: PoolId): boolean => byId.get(poolId)?.isDedicated !== true;
  /** For jobs without an eligible pool, if that is allowed. */
  const everywhere = [...all.filter(isOpen), UNPOOLED];
  const regionsNamed = new Set(plan.pools.flatMap(({ regions = [] }) => regions));
  const fitting = new WeakMap<NodeProfile, Map<Region, readonly PoolId[]>>();
  const homes = new Map<PoolId, readonly PoolId[]>();
  const eligibles = new Map<string, readonly PoolId[]>();
  const lists = new Map<string, readonly PoolId[]>();

  /** One list per pool, shared by its nodes, so that comparing is cheap. */
  function only(poolId: PoolId): readonly PoolId[] {
    const known = homes.get(poolId) ?? [poolId];
    homes.set(poolId, known);
    return known;
  }

  function remember<T>(map: Map<string, T>, key: string, make: () => T): T {
    const known = map.get(key);
    if (known !== undefined) return known;
    if (map.size >= MAX_KINDS) map.clear();
    const made = make();
    map.set(key, made);
    return made;
  }

  const eligibleFor = (need: Need, kind: string): readonly PoolId[] =>
    remember(eligibles, kind, () => {
      if (plan.pools.length === 0) return all;
      const required = requirementOf(plan, need);
      return plan.pools.filter((pool: Pool) => isEligible(plan, pool, required)).map(({ poolId }) => poolId);
    });

  function boundRoute(need: Need, kind: string, poolId: PoolId): PoolRoute {
    const eligible = eligibleFor(need, kind);
    if (plan.isStrict) {
      return eligible.includes(poolId)
        ? { poolIds: only(poolId), start: 0, count: 1, confinement: { kind: 'tenant_pool', poolId } }
        : { ...NOWHERE, confinement: { kind: 'tenant_pool_not_eligible', poolId } };
    }
    const poolIds = remember(lists, `${poolId} ${kind}`, () => [
      poolId,
      ...eligible.filter((other) => other !== poolId && isOpen(other)),
    ]);
    return goingRound(poolIds, 0);
  }

  const nearFirst = (eligible: readonly PoolId[], near: readonly PoolId[], key: string): readonly PoolId[] =>
    remember(lists, `r${key}`, () => [...near, ...eligible.filter((poolId) => !near.includes(poolId))]);

  /** Starts with a pool by hash, so that not all such jobs go to the same pool. */
  function fallbackRoute(need: Need): PoolRoute {
    const start = stableChoice(routingKey(need), plan.hashSeed, Math.max(1, everywhere.length - 1));
    return { poolIds: everywhere, start, count: everywhere.length, confinement: undefined, isFallback: true };
  }

  function goingRound(poolIds: readonly PoolId[], start: number): PoolRoute {
    return plan.fallsBack
      ? { poolIds, start, count: poolIds.length, confinement: undefined }
      : {
          poolIds,
          start,
          count: 1,
          confinement: { kind: 'no_fallback', poolId: poolIds[start] as PoolId },
        };
  }

  return {
    plan,
    poolsOf({ nodeId, profile, region }) {
      const byRegion = fitting.get(profile) ?? new Map<Region, readonly PoolId[]>();
      fitting.set(profile, byRegion);
      // A region that no pool names is like none.
      const named = region !== undefined && regionsNamed.has(region) ? region : '';
      const candidates = byRegion.get(named) ?? fittingPools(plan, profile, named);
      byRegion.set(named, candidates);
      return only(homeOf(plan, nodeId, candidates));
    },
    eligible: (need) => eligibleFor(need, kindOf(plan, need)),
    route(need) {
      const kind = kindOf(plan, need);
      const bound = plan.tenantPools.get(need.tenantId);
      if (bound !== undefined) return boundRoute(need, kind, bound);
      const eligible = remember(lists, kind, () => eligibleFor(need, kind).filter(isOpen));
      if (eligible.length === 0) {
        return plan.isStrict
          ? { ...NOWHERE, confinement: { kind: 'no_eligible_pool' } }
          : fallbackRoute(need);
      }
      const region = need.region ?? plan.ownRegion;
      const near =
        region === undefined || !regionsNamed.has(region) ? eligible : poolsNear(plan, eligible, region);
      const ordered = near === eligible ? eligible : nearFirst(eligible, near, `${region} ${kind}`);
      const preferred = need.preferredPoolId === undefined ? -1 : ordered.indexOf(need.preferredPoolId);
      return goingRound(
        ordered,
        preferred === -1 ? stableChoice(routingKey(need), plan.hashSeed, near.length) : preferred,
      );
    },
  };
}

/** Whether the route contains the pool. */
export function leadsTo({ poolIds, start, count }: PoolRoute, poolId: PoolId): boolean {
  if (count === 1) return poolIds[start] === poolId;
  return poolIds.includes(poolId);
}

/** In the order of the tries. */
export const inOrder = ({ poolIds, start, count }: PoolRoute): readonly PoolId[] =>
  Array.from({ length: count }, (_, at) => poolIds[(start + at) % poolIds.length] as PoolId);

const NOWHERE = { poolIds: NONE, start: 0, count: 0 };

/** Jobs of one tenant share a key; sessions without a tenant spread. */
export const routingKey = ({ tenantId, sessionId }: Pick<Need, 'tenantId' | 'sessionId'>): string =>
  tenantId === DEFAULT_TENANT ? sessionId : tenantId;

/** A stage that a feature depends on counts like a stage of the pipeline, and a stage's service id represents the stage. */
function requirementOf({ core }: PoolPlan, need: Need): PoolRequirement {
  const uses = { asr: need.usesAsr, nmt: need.usesNmt, tts: need.usesTts };
  const stages = CORE_STAGES.filter((stage: CoreStage) => uses[stage] || need.types.includes(stage));
  const stageNames = new Set<string>(stages.flatMap((stage) => [stage, core[stage] ?? stage]));
  const names = [...need.types, ...need.services, ...(need.features ?? [])].filter(
    (word) => !stageNames.has(word),
  );
  return { stages, names };
}

/** Jobs of one kind are equal for pools. Names are written with their length, so that no client can make two kinds equal. */
function kindOf({ matchScope }: PoolPlan, need: Need): string {
  let kind = `${(need.usesAsr ? 1 : 0) | (need.usesNmt ? 2 : 0) | (need.usesTts ? 4 : 0)}`;
  for (const word of need.types) kind += `t${word.length}.${word}`;
  if (matchScope === 'core_only') return kind;
  for (const word of need.services) kind += `s${word.length}.${word}`;
  for (const word of need.features ?? []) kind += `f${word.length}.${word}`;
  return kind;
}
