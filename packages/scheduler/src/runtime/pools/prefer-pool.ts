/** Hot path, once per session and language pair: the pool to begin with. The job itself decides where it may go. */
import type { SessionId, TenantId } from '../../domain/ids.ts';
import type { Need } from '../../domain/need.ts';
import type { Languages } from '../../domain/needed-directions.ts';
import type { PoolId } from '../../domain/pool.ts';
import { stableChoice } from '../../domain/stable-hash.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { compileNeed } from '../select/compile-need.ts';
import { type PoolMap, routingKey } from './pool-map.ts';

export interface Seeker {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
}

/** The tenant's own, else always the same one of those that have nodes for the languages. Undefined: there are no pools, or none has. */
export type PreferPool = (seeker: Seeker, languages: Languages) => PoolId | undefined;

/** Language pairs remembered. */
const MAX_PAIRS = 1_024;

/** Remembers which pools serve a pair while the fleet stays as it is: after a change of pools every session asks anew. */
export function createPreferPool(fleet: FleetView): PreferPool {
  const known = new Map<string, readonly PoolId[]>();
  let edition: PoolMap | undefined;
  let changes = -1;

  /** The same for every tenant that is not bound. */
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
    const among = serving(poolMap, needFor(seeker, languages));
    return among[stableChoice(routingKey(seeker), poolMap.plan.hashSeed, among.length)];
  };
}

/** The languages alone, whatever a single utterance will ask for besides. */
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
