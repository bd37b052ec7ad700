/** Point 2, explain: the pools in force, with what their nodes can do. */
import { describe, expect, it } from 'vitest';
import { readPools } from '../../../src/runtime/explain/read-pools.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { anyProfile, nodeView } from '../fleet/fleet-fixture.ts';
import { dividedFleet, having, planOf, pool } from '../pools/pool-fixture.ts';

describe('reading the pools', () => {
  it('counts online and ready nodes, and core services per pool', () => {
    const fleet = dividedFleet(
      planOf([pool(2), pool(1, ['m2m'])]),
      nodeView('well', { profile: having('m2m') }),
      nodeView('marked', { profile: having('m2m'), markedServices: ['m2m'] }),
      nodeView('asleep', { profile: { ...having('m2m'), readyServices: [] }, health: 'degraded' }),
      nodeView('gone', { profile: having('m2m'), health: 'offline', markedTypes: ['tts'] }),
    );
    const { pools, unpooled } = readPools(fleet, { nmt: 'm2m' });
    expect(pools.map(({ poolId, total }) => [poolId, total])).toEqual([
      [1, 4],
      [2, 0],
    ]);
    expect(pools[0]).toMatchObject({
      online: 3,
      ready: 2,
      sampleNodeIds: ['well', 'marked', 'asleep', 'gone'],
    });
    expect(Object.fromEntries(pools[0]?.installed ?? [])).toEqual({ asr: 4, m2m: 4, tts: 4 });
    expect(Object.fromEntries(pools[0]?.readyServices ?? [])).toEqual({ asr: 4, m2m: 2, tts: 3 });
    expect(unpooled).toEqual({ total: 0, sampleNodeIds: [] });
  });

  it('shows at most five nodes of each pool and of none', () => {
    const views = Array.from({ length: 9 }, (_, n) => nodeView(`n${n}`, { profile: having('a') }));
    const fleet = dividedFleet(planOf([pool(1, ['a'])]), ...views, nodeView('lost', { profile: anyProfile }));
    const { pools, unpooled } = readPools(fleet, {});
    expect(pools[0]?.sampleNodeIds).toHaveLength(5);
    expect(pools[0]?.total).toBe(9);
    expect(unpooled).toEqual({ total: 1, sampleNodeIds: ['lost'] });
  });

  it('shows no pools and no removed nodes when the fleet is not divided', () => {
    const fleet = createFleetView();
    for (const nodeId of ['a', 'b']) fleet.upsert(nodeView(nodeId));
    fleet.remove('a');
    expect(readPools(fleet, {})).toEqual({
      plan: undefined,
      pools: [],
      unpooled: { total: 1, sampleNodeIds: ['b'] },
    });
  });
});
