/** Plans of pools, nodes and needs for the tests of pools. */
import fc from 'fast-check';
import type { Need } from '../../../src/domain/need.ts';
import type { NodeView } from '../../../src/domain/node.ts';
import type { Pool, PoolPlan } from '../../../src/domain/pool.ts';
import type { NodeBinding, NodeProfile } from '../../../src/domain/profile.ts';
import { createFleetView, type FleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { createPoolMap } from '../../../src/runtime/pools/pool-map.ts';
import { anyProfile, nodeView, someNeed } from '../fleet/fleet-fixture.ts';

export const pool = (
  poolId: number,
  requiredServices: readonly string[] = [],
  part: Partial<Pool> = {},
): Pool => ({ poolId, name: `p${poolId}`, requiredServices, isDedicated: false, ...part });

export const planOf = (pools: readonly Pool[], part: Partial<PoolPlan> = {}): PoolPlan => ({
  pools,
  bucketCount: 4,
  hashSeed: 0,
  tenantPools: new Map(),
  matchScope: 'core_only',
  matchMode: 'contains',
  isStrict: false,
  fallsBack: true,
  core: {},
  ...part,
});

export const having = (...services: string[]): NodeProfile => ({
  ...anyProfile,
  installedServices: services,
  readyServices: services,
});

export function dividedFleet(plan: PoolPlan, ...views: readonly NodeView[]): FleetView {
  const fleet = createFleetView();
  for (const view of views) fleet.upsert(view);
  fleet.changePools(createPoolMap(plan))(Number.POSITIVE_INFINITY);
  return fleet;
}

const SERVICES = ['asr', 'nmt', 'whisper', 'm2m', 'x'];
const TENANTS = ['a', 'b', 'c', 'default'];
const services = fc.subarray(SERVICES);

export const anyPlan: fc.Arbitrary<PoolPlan> = fc
  .record({
    pools: fc.array(fc.record({ listed: services, isDedicated: fc.boolean() }), { maxLength: 5 }),
    bucketCount: fc.integer({ min: 1, max: 4 }),
    hashSeed: fc.integer({ min: 0, max: 3 }),
    bound: fc.dictionary(fc.constantFrom(...TENANTS.slice(0, 3)), fc.nat()),
    matchScope: fc.constantFrom('core_only' as const, 'all_required' as const),
    matchMode: fc.constantFrom('contains' as const, 'exact' as const),
    isStrict: fc.boolean(),
    fallsBack: fc.boolean(),
    core: fc.constantFrom({}, { asr: 'whisper', nmt: 'm2m' }),
  })
  .map(({ pools, bound, ...part }) => {
    const listed = pools.map(({ listed: names, isDedicated }, at) => pool(10 + at, names, { isDedicated }));
    const ids = listed.length > 0 ? listed.map(({ poolId }) => poolId) : [0];
    const tenantPools = new Map(
      Object.entries(bound).map(([tenant, at]) => [tenant, ids[at % ids.length] as number]),
    );
    return planOf(listed, { ...part, tenantPools });
  });

export const anyViews: fc.Arbitrary<NodeView[]> = fc
  .array(
    fc.record({
      services,
      isReady: fc.integer({ min: 0, max: 5 }),
      binding: fc.constantFrom<NodeBinding | undefined>(
        undefined,
        {},
        { tenantId: 'a' },
        { poolIds: [0, 11] },
      ),
    }),
    { maxLength: 40 },
  )
  .map((all) =>
    all.map(({ services: names, isReady, binding }, n) =>
      nodeView(`n${n}`, {
        profile: { ...having(...names), ...(binding !== undefined && { binding }) },
        health: isReady > 0 ? 'ready' : 'degraded',
      }),
    ),
  );

export const anyPooledNeed: fc.Arbitrary<Need> = fc
  .record({
    tenantId: fc.constantFrom(...TENANTS),
    sessionId: fc.constantFrom('s1', 's2', 's3'),
    usesAsr: fc.boolean(),
    usesNmt: fc.boolean(),
    usesTts: fc.boolean(),
    services: fc.subarray(['x']),
    preferredNodeId: fc.option(
      fc.nat({ max: 39 }).map((n) => `n${n}`),
      { nil: undefined },
    ),
    preferredPoolId: fc.option(fc.integer({ min: 9, max: 15 }), { nil: undefined }),
  })
  .map(({ preferredNodeId, preferredPoolId, ...part }) =>
    someNeed({
      ...part,
      ...(preferredNodeId !== undefined && { preferredNodeId }),
      ...(preferredPoolId !== undefined && { preferredPoolId }),
    }),
  );
