/** Point 2, explain: pools tried in order, each with its reason and its candidates. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptPools } from '../../../src/runtime/explain/pool-attempts.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { missReason } from '../../../src/runtime/pools/miss-reason.ts';
import { compileUncached } from '../../../src/runtime/select/compile-need.ts';
import { type PoolWatch, select } from '../../../src/runtime/select/select.ts';
import { nodeView, seededChance, someNeed } from '../fleet/fleet-fixture.ts';
import {
  anyPlan,
  anyPooledNeed,
  anyViews,
  dividedFleet,
  having,
  planOf,
  pool,
} from '../pools/pool-fixture.ts';

const NO_EXCLUSIONS = new Set<string>();

describe('the pools tried for a job', () => {
  it('are those of selection, in its order, with the counted reasons', () => {
    fc.assert(
      fc.property(anyPlan, anyViews, anyPooledNeed, fc.nat(), (plan, views, pooledNeed, seed) => {
        const { preferredNodeId: _, ...need } = pooledNeed;
        const fleet = dividedFleet(plan, ...views);
        const compiled = compileUncached(fleet, need);
        const reported: [number, string][] = [];
        const watch: PoolWatch = {
          missed: (one, poolId) => void reported.push([poolId, missReason(one, poolId)]),
          found: (_one, poolId) => void reported.push([poolId, 'ok']),
          exhausted() {},
        };
        const chance = seededChance(seed);
        const options = {
          chance,
          sampleK: 2,
          policy: 'least_loaded' as const,
          excluded: NO_EXCLUSIONS,
          pools: watch,
        };
        const chosen = select(fleet, compiled, options).next();
        const attempts = attemptPools(compiled, NO_EXCLUSIONS) ?? [];
        expect(attempts.map(({ poolId, reason }) => [poolId, reason])).toEqual(reported);
        expect(attempts.some(({ candidates }) => candidates > 0)).toBe(chosen !== undefined);
      }),
      { numRuns: 300 },
    );
  });

  it('count the nodes that could be chosen, without excluded ones', () => {
    const plan = planOf([pool(1)]);
    const busy = nodeView('busy', { slots: 0 });
    const fleet = dividedFleet(plan, nodeView('a'), nodeView('b'), nodeView('c'), busy);
    const compiled = compileUncached(fleet, someNeed());
    expect(attemptPools(compiled, new Set(['a']))).toEqual([{ poolId: 1, reason: 'ok', candidates: 2 }]);
    expect(attemptPools(compiled, new Set(['a', 'b', 'c']))).toEqual([
      { poolId: 1, reason: 'excluded', candidates: 0 },
    ]);
  });

  it('name a core service that is missing or not ready', () => {
    const plan = planOf([pool(1, ['m2m']), pool(2, ['m2m', 'whisper']), pool(3, ['nothing'])], {
      core: { asr: 'whisper', nmt: 'm2m' },
      matchScope: 'core_only',
    });
    const sleeping = { ...having('m2m', 'whisper'), readyServices: ['m2m'] };
    const fleet = dividedFleet(
      plan,
      nodeView('a', { profile: having('m2m') }),
      nodeView('b', { profile: sleeping }),
    );
    const need = someNeed({ usesTts: false, services: ['m2m', 'whisper'] });
    expect(attemptPools(compileUncached(fleet, need), NO_EXCLUSIONS)).toEqual([
      { poolId: 2, reason: 'missing_core_asr_not_ready', candidates: 0 },
    ]);
    const loose = dividedFleet(planOf([pool(1)], { core: { asr: 'whisper' } }), nodeView('a'));
    expect(attemptPools(compileUncached(loose, need), NO_EXCLUSIONS)).toEqual([
      { poolId: 1, reason: 'missing_core_asr_installed', candidates: 0 },
    ]);
  });

  it('name a pool without nodes', () => {
    const fleet = dividedFleet(planOf([pool(7)]));
    expect(attemptPools(compileUncached(fleet, someNeed()), NO_EXCLUSIONS)).toEqual([
      { poolId: 7, reason: 'no_nodes', candidates: 0 },
    ]);
  });

  it('are absent when the fleet is not divided', () => {
    expect(attemptPools(compileUncached(createFleetView(), someNeed()), NO_EXCLUSIONS)).toBeUndefined();
  });
});
