/** Pools for the tests of selection: a profile names the pools of its node, and a need its allowed pools in order. */
import type { Need } from '../../../src/domain/need.ts';
import type { PoolPlan } from '../../../src/domain/pool.ts';
import type { NodeProfile } from '../../../src/domain/profile.ts';
import { createFleetView, type FleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import type { PoolMap } from '../../../src/runtime/pools/pool-map.ts';

/** Absent: every pool. */
export interface NamedNeed extends Need {
  readonly poolIds?: readonly number[];
}

export const namedPoolsOf = ({ features }: NodeProfile): readonly number[] =>
  features.filter((word) => /^\d+$/.test(word)).map(Number);

const profiles = new Map<string, NodeProfile>();

/** The profile with these pools; the same object for the same pools. */
export function inPools(base: NodeProfile, ...poolIds: readonly number[]): NodeProfile {
  const known = profiles.get(poolIds.join()) ?? { ...base, features: poolIds.map(String) };
  profiles.set(poolIds.join(), known);
  return known;
}

export const NAMED_POOLS: PoolMap = {
  plan: {} as PoolPlan,
  poolsOf: ({ profile }) => namedPoolsOf(profile),
  eligible: () => [],
  route(need: NamedNeed) {
    const { poolIds } = need;
    return poolIds && { poolIds, start: 0, count: poolIds.length, confinement: undefined };
  },
};

export function createPooledFleet(poolMap = NAMED_POOLS): FleetView {
  const fleet = createFleetView();
  fleet.changePools(poolMap)(Number.POSITIVE_INFINITY);
  return fleet;
}
