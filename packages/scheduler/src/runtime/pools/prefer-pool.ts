/** Hot path, once per session and language pair: the first pool to try. The job itself decides which pools it may use. */
import type { SessionId, TenantId } from '../../domain/ids.ts';
import type { Need } from '../../domain/need.ts';
import type { Languages } from '../../domain/needed-directions.ts';
import { type PoolId, poolsNear } from '../../domain/pool.ts';
import type { Region } from '../../domain/region.ts';
import { stableChoice } from '../../domain/stable-hash.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { compileNeed } from '../select/compile-need.ts';
import { type PoolMap, routingKey } from './pool-map.ts';

export interface Seeker {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly region?: Region | undefined;
}

/** The pool of the tenant, otherwise a stable choice among the pools with nodes for the languages. Undefined: there is none. */
export type PreferPool = (seeker: Seeker, languages: Languages) => PoolId | undefined;

/** Language pairs cached. */
const MAX_PAIRS = 1_024;

/** Caches which pools serve a pair until the fleet changes. */
export function createPreferPool(fleet: FleetView): PreferPool {
  const known = new Map<string, readonly PoolId[]>();
  let edition: PoolMap | undefined;
  let changes = -1;

  /** The same for every tenant without its own pool. */
  function serving(poolMap: PoolMap, need: Need): readonly PoolId[] {
    const { query } = compileNeed(fleet, need);
    const changesNow = fleet.stats().changes;
    if (edition !== poolMap || changes !== changesNow || known.size >= MAX_PAIRS) known.clear();
    edition = poolMap;
    changes = changesNow;
    const before = known.get(query.key);
    if (before !== undefined) return before;
    const { facts, pools, queries } = fleet.table;
    const fit = queries.words(query);
    const found = (poolMap.route(need)?.poolIds ?? []).filter((poolId) => {
      const members = facts.words(pools?.key(poolId) ?? '');
      return members.some((word, at) => (word & (fit[at] ?? 0)) !== 0);
    });
    known.set(query.key, found);
    return found;
  }

  return function preferPool(seeker, languages) {
    const { pools: poolMap } = fleet;
    if (poolMap === undefined) return undefined;
    const bound = poolMap.plan.tenantPools.get(seeker.tenantId);
    if (bound !== undefined) return bound;
    const { plan } = poolMap;
    const all = serving(poolMap, needFor(seeker, languages));
    const region = seeker.region ?? plan.ownRegion;
    const among = region === undefined ? all : poolsNear(plan, all, region);
    return among[stableChoice(routingKey(seeker), plan.hashSeed, among.length)];
  };
}

/** The pools as sessions use them. */
export function createSessionPools(fleet: FleetView) {
  return {
    /** Changes whenever the pools change. */
    get edition(): unknown {
      return fleet.pools;
    },
    preferred: createPreferPool(fleet),
  };
}

/** The languages only, without other requirements of an utterance. */
const needFor = (
  { tenantId, sessionId }: Seeker,
  { directions, isSourceAuto, isPairUnknown }: Languages,
): Need => ({
  tenantId,
  sessionId,
  directions,
  isSourceAuto,
  isPairUnknown,
  usesAsr: true,
  usesNmt: true,
  usesTts: true,
  types: NOTHING,
  services: NOTHING,
  isAudioByReference: false,
  needsPublicNode: true,
  isStrict: false,
});

const NOTHING: readonly string[] = [];
