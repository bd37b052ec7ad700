/** I10 isolation: with strict pools no job leaves the pool of its tenant, through any change of plan and fleet. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fits, isEligible, type PoolPlan } from '../../../src/domain/pool.ts';
import type { FleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { createPoolMap } from '../../../src/runtime/pools/pool-map.ts';
import { type CompiledNeed, compileNeed, matches } from '../../../src/runtime/select/compile-need.ts';
import { select } from '../../../src/runtime/select/select.ts';
import { seededChance } from '../fleet/fleet-fixture.ts';
import { anyPlan, anyPooledNeed, anyViews } from './pool-fixture.ts';

function selectAll(fleet: FleetView, compiled: CompiledNeed, seed: number): string[] {
  const options = {
    chance: seededChance(seed),
    sampleK: 3,
    policy: 'weighted_random',
    excluded: new Set<string>(),
  };
  const selection = select(fleet, compiled, { ...options, policy: 'weighted_random' });
  const found: string[] = [];
  for (let id = selection.next(); id !== undefined; id = selection.next()) found.push(id);
  return found;
}

/** What the plan forbids, computed node by node without the pool map's lists. */
function isForbidden(plan: PoolPlan, fleet: FleetView, compiled: CompiledNeed, nodeId: string): boolean {
  const { need } = compiled;
  const [home] = createPoolMap(plan).poolsOf(
    fleet.view(nodeId) as NonNullable<ReturnType<FleetView['view']>>,
  );
  const bound = plan.tenantPools.get(need.tenantId);
  const pool = plan.pools.find(({ poolId }) => poolId === home);
  const tenants = [...plan.tenantPools].filter(([, poolId]) => poolId === home).map(([tenantId]) => tenantId);
  const binding = fleet.view(nodeId)?.profile.binding;
  if (binding !== undefined && (pool?.isDedicated === true || tenants.length > 0)) {
    const isBound = binding.poolIds?.includes(home as number) ?? tenants.includes(binding.tenantId ?? '');
    if (!isBound) return true;
  }
  if (pool?.isDedicated === true && bound !== home) return true;
  if (!plan.isStrict) return false;
  if (bound !== undefined && bound !== home) return true;
  if (plan.pools.length === 0) return false;
  if (pool === undefined) return true;
  const view = fleet.view(nodeId);
  if (view === undefined || !fits(pool, view.profile)) return true;
  const uses = { asr: need.usesAsr, nmt: need.usesNmt, tts: need.usesTts };
  const stages = (['asr', 'nmt', 'tts'] as const).filter((stage) => uses[stage]);
  return !isEligible(plan, pool, { stages, names: need.services });
}

describe('I10 isolation', () => {
  it('holds for every selected node and for the preferred node', () => {
    let seen = 0;
    fc.assert(
      fc.property(
        anyPlan,
        anyViews,
        fc.array(anyPooledNeed, { maxLength: 6 }),
        fc.nat(),
        (plan, views, needs, seed) => {
          const fleet = createFleetView();
          fleet.changePools(createPoolMap(plan))(Number.POSITIVE_INFINITY);
          for (const view of views) fleet.upsert(view);
          for (const need of needs) {
            const compiled = compileNeed(fleet, need);
            const found = selectAll(fleet, compiled, seed);
            seen += found.length;
            for (const nodeId of found) expect(isForbidden(plan, fleet, compiled, nodeId)).toBe(false);
            for (const { nodeId } of views)
              if (matches(compiled, nodeId)) expect(isForbidden(plan, fleet, compiled, nodeId)).toBe(false);
          }
        },
      ),
      // Seeded, because the number of selected nodes is judged.
      { numRuns: 500, seed: 1 },
    );
    expect(seen).toBeGreaterThan(1_000);
  });

  it('holds at every step of a change of plan', () => {
    fc.assert(
      fc.property(
        anyPlan,
        anyPlan,
        anyViews,
        anyViews,
        anyPooledNeed,
        fc.integer({ min: 1, max: 7 }),
        (before, after, views, later, need, slice) => {
          const fleet = createFleetView();
          fleet.changePools(createPoolMap(before))(Number.POSITIVE_INFINITY);
          for (const view of views) fleet.upsert(view);
          const compiled = compileNeed(fleet, need);
          selectAll(fleet, compiled, 1);
          const step = fleet.changePools(createPoolMap(after));
          for (let isDone = false, at = 0; !isDone; at++) {
            isDone = step(slice);
            const view = later[at];
            if (view !== undefined) fleet.upsert(view);
            const plan = fleet.pools?.plan as PoolPlan;
            expect(plan).toBe(isDone ? after : before);
            for (const nodeId of selectAll(fleet, compiled, at))
              expect(isForbidden(plan, fleet, compiled, nodeId)).toBe(false);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('a series of plans ends as if the last were the first', () => {
    fc.assert(
      fc.property(fc.array(anyPlan, { minLength: 1, maxLength: 4 }), anyViews, (plans, views) => {
        const fleet = createFleetView();
        for (const view of views) fleet.upsert(view);
        for (const plan of plans) {
          fleet.changePools(createPoolMap(plan))(2); // abandoned half-way when the next change starts
          fleet.changePools(createPoolMap(plan))(Number.POSITIVE_INFINITY);
        }
        const fresh = createFleetView();
        fresh.changePools(createPoolMap(plans.at(-1) as PoolPlan))(Number.POSITIVE_INFINITY);
        for (const view of views) fresh.upsert(view);
        expect(fleet.stats().facts).toBe(fresh.stats().facts);
        const homes = (of: FleetView) =>
          views.map(({ nodeId }) => of.table.pools?.of(of.table.indexOf(nodeId)));
        expect(homes(fleet)).toEqual(homes(fresh));
      }),
      { numRuns: 100 },
    );
  });
});
