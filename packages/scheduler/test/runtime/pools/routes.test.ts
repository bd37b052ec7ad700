/** Capability pools: which pools a job may use, in which order, and what a refusal says about it. */
import { describe, expect, it } from 'vitest';
import type { Need } from '../../../src/domain/need.ts';
import { type PoolPlan, UNPOOLED } from '../../../src/domain/pool.ts';
import { refusal } from '../../../src/runtime/dispatch/refusal.ts';
import { describeConfinement } from '../../../src/runtime/pools/describe-confinement.ts';
import { createPoolMap, inOrder } from '../../../src/runtime/pools/pool-map.ts';
import { createPreferPool } from '../../../src/runtime/pools/prefer-pool.ts';
import { compileNeed } from '../../../src/runtime/select/compile-need.ts';
import { select } from '../../../src/runtime/select/select.ts';
import { nodeView, someNeed } from '../fleet/fleet-fixture.ts';
import { dividedFleet, having, planOf, pool } from './pool-fixture.ts';

const CORE = { asr: 'whisper', nmt: 'm2m' };
const POOLS = [pool(1, ['whisper', 'm2m']), pool(2, ['whisper', 'm2m', 'x']), pool(3, ['whisper']), pool(4)];

const routed = (plan: PoolPlan, need: Partial<Need> = {}) => {
  const route = createPoolMap(plan).route(someNeed({ usesTts: false, tenantId: 'default', ...need }));
  return route && { order: inOrder(route), confinement: route.confinement };
};

const first = (plan: PoolPlan, need: Partial<Need>) => routed(plan, need)?.order[0];

describe('a job', () => {
  it('tries the eligible pools, starting from its routing key', () => {
    const plan = planOf(POOLS, { core: CORE });
    const orders = Array.from({ length: 60 }, (_, n) => routed(plan, { sessionId: `s-${n}` })?.order);
    expect(new Set(orders.map((order) => order?.join()))).toEqual(new Set(['1,2,4', '2,4,1', '4,1,2']));
  });

  it('of one tenant always starts with the same pool', () => {
    const plan = planOf(POOLS);
    const firsts = Array.from({ length: 30 }, (_, n) =>
      first(plan, { tenantId: 'acme', sessionId: `s-${n}` }),
    );
    expect(new Set(firsts).size).toBe(1);
    const tenants = Array.from({ length: 60 }, (_, n) => first(plan, { tenantId: `t-${n}` }));
    expect(new Set(tenants).size).toBe(4);
  });

  it('starts with the preferred pool of its session, if eligible', () => {
    const plan = planOf(POOLS, { core: CORE });
    expect(routed(plan, { preferredPoolId: 4 })?.order).toEqual([4, 1, 2]);
    expect(routed(plan, { preferredPoolId: 3 })?.order).not.toContain(3);
  });

  it('stays in the preferred pool without fallback', () => {
    const plan = planOf(POOLS, { fallsBack: false });
    expect(routed(plan, { preferredPoolId: 2 })).toEqual({
      order: [2],
      confinement: { kind: 'no_fallback', poolId: 2 },
    });
  });

  it('without an eligible pool goes everywhere, or nowhere if strict', () => {
    const none = { core: CORE };
    expect(routed(planOf(POOLS.slice(2, 3), none))?.order).toEqual([3, UNPOOLED]);
    expect(routed(planOf(POOLS.slice(2, 3), { ...none, isStrict: true }))).toEqual({
      order: [],
      confinement: { kind: 'no_eligible_pool' },
    });
  });

  it('without an eligible pool starts by stable hash, not always with pool 1', () => {
    const plan = planOf([pool(1, ['tone']), pool(2, ['tts']), pool(3, ['tone', 'tts'])]);
    const orders = Array.from({ length: 60 }, (_, n) => routed(plan, { sessionId: `s-${n}` })?.order.join());
    expect(new Set(orders)).toEqual(new Set(['1,2,3,-1', '2,3,-1,1', '3,-1,1,2']));
    expect(orders).toEqual(
      Array.from({ length: 60 }, (_, n) => routed(plan, { sessionId: `s-${n}` })?.order.join()),
    );
    const ofTenant = (n: number) => first(plan, { tenantId: 'acme', sessionId: `s-${n}` });
    expect(new Set(Array.from({ length: 20 }, (_, n) => ofTenant(n))).size).toBe(1);
  });

  it('of a bound tenant starts with its pool, and leaves unless strict', () => {
    const tenantPools = new Map([['acme', 2]]);
    expect(routed(planOf(POOLS, { tenantPools }), { tenantId: 'acme' })?.order).toEqual([2, 1, 3, 4]);
    expect(routed(planOf(POOLS, { tenantPools, fallsBack: false }), { tenantId: 'acme' })?.order).toEqual([
      2,
    ]);
    expect(routed(planOf(POOLS, { tenantPools, isStrict: true }), { tenantId: 'acme' })).toEqual({
      order: [2],
      confinement: { kind: 'tenant_pool', poolId: 2 },
    });
  });

  it('of a bound tenant is refused if its strict pool lacks services', () => {
    const plan = planOf(POOLS, { core: CORE, isStrict: true, tenantPools: new Map([['acme', 3]]) });
    expect(routed(plan, { tenantId: 'acme' })).toEqual({
      order: [],
      confinement: { kind: 'tenant_pool_not_eligible', poolId: 3 },
    });
  });

  it('never goes to a dedicated pool of another tenant', () => {
    const pools = [pool(1), pool(2, [], { isDedicated: true })];
    const tenantPools = new Map([['acme', 2]]);
    for (const isStrict of [false, true]) {
      expect(routed(planOf(pools, { tenantPools, isStrict }))?.order).toEqual([1]);
      expect(first(planOf(pools, { tenantPools, isStrict }), { tenantId: 'acme' })).toBe(2);
    }
    expect(routed(planOf(pools.slice(1), { tenantPools }))?.order).toEqual([UNPOOLED]);
  });

  it('finds features, named services and dependent stages in a pool', () => {
    const pools = [pool(1, ['asr', 'nmt', 'tone', 'emotion_detection']), pool(2, ['asr', 'nmt'])];
    const plan = planOf(pools, { matchScope: 'all_required' });
    expect(routed(plan, { types: ['tone', 'asr'], features: ['emotion_detection'] })?.order).toEqual([1]);
    expect(new Set(routed(plan, { types: ['tone', 'tts'] })?.order)).toEqual(new Set([1, 2, UNPOOLED]));
    const byId = planOf([pool(1, ['asr', 'm2m'])], {
      matchScope: 'all_required',
      core: CORE,
      isStrict: true,
    });
    // The service id of a stage is required of the node, and of the pool either by id or by type.
    expect(routed(byId, { services: ['whisper', 'm2m'] })?.order).toEqual([1]);
  });

  it('goes to a bucket where no pools are listed', () => {
    const plan = planOf([], { bucketCount: 3, tenantPools: new Map([['acme', 2]]) });
    const orders = Array.from({ length: 40 }, (_, n) => routed(plan, { sessionId: `s-${n}` })?.order.join());
    expect(new Set(orders)).toEqual(new Set(['0,1,2', '1,2,0', '2,0,1']));
    expect(routed(plan, { tenantId: 'acme' })?.order).toEqual([2, 0, 1]);
    expect(routed({ ...plan, isStrict: true }, { tenantId: 'acme' })?.order).toEqual([2]);
  });
});

describe('the refusal of a confined job', () => {
  const plan = planOf([pool(1, ['x']), pool(2, ['y'], { name: 'gold' })], {
    isStrict: true,
    tenantPools: new Map([['acme', 2]]),
  });
  const nodes = [
    nodeView('n1', { profile: having('x') }),
    nodeView('n2', { profile: having('y'), slots: 0 }),
  ];
  const refused = (need: Partial<Need>, by = plan) => {
    const fleet = dividedFleet(by, ...nodes);
    return refusal(fleet, compileNeed(fleet, someNeed(need)), new Set());
  };

  it('names the pool and the tenant although another node is free', () => {
    const { code, message, reasons } = refused({ tenantId: 'acme' });
    expect(code).toBe('ALL_CANDIDATES_FULL_OR_FAILED');
    expect(message).toContain('in pool 2 (gold), to which tenant acme is bound and may not leave');
    expect(reasons).toEqual([
      { reason: 'not_in_pool', count: 1, sampleNodeIds: ['n1'] },
      { reason: 'capacity_exceeded', count: 1, sampleNodeIds: ['n2'] },
    ]);
  });

  it('names a required node that is in another pool', () => {
    const insists = (preferredNodeId: string) =>
      refused({ tenantId: 'acme', preferredNodeId, isStrict: true }).message;
    expect(insists('n1')).toContain(
      'n1 cannot take this job in pool 2 (gold), to which tenant acme is bound',
    );
    expect(insists('n2')).not.toContain('pool');
    expect(insists('n9')).toContain('n9 is not registered');
  });

  it('is not NO_CAPABLE_NODE if a node of another pool is able, and does not wait', () => {
    expect(refused({ tenantId: 'acme', services: ['x'] })).toMatchObject({
      code: 'ALL_CANDIDATES_FULL_OR_FAILED',
      mainReason: 'not_in_pool',
      isWaitUseful: false,
    });
    expect(refused({ tenantId: 'acme', services: ['z'] }).code).toBe('NO_CAPABLE_NODE');
  });

  it('says whether the pool, any pool or the fallback is missing', () => {
    const core = { asr: 'whisper' };
    expect(refused({ tenantId: 'acme' }, { ...plan, core }).message).toContain(
      'pool 2 (gold), to which tenant acme is bound and may not leave (strict_pool_eligibility), does not promise',
    );
    expect(refused({ tenantId: 'other' }, { ...plan, core }).message).toContain('no pool promises');
    const alone = { ...plan, isStrict: false, fallsBack: false };
    expect(refused({ tenantId: 'acme' }, alone).message).toContain('fallback_scan_all_pools = false');
  });

  it('does not mention pools for a job that may use all', () => {
    const fleet = dividedFleet({ ...plan, isStrict: false }, ...nodes);
    expect(describeConfinement(compileNeed(fleet, someNeed()))).toBe('');
  });
});

describe('a selection while the pools change', () => {
  it('starts again in the new order and returns no node twice', () => {
    const many = [pool(1, ['x']), pool(2, ['y']), pool(3, ['z'])];
    const views = ['x', 'y', 'z'].map((word) => nodeView(word, { profile: having(word) }));
    const fleet = dividedFleet(planOf(many), ...views);
    const options = { chance: () => 0, sampleK: 5, policy: 'weighted_random', excluded: new Set<string>() };
    const compiled = compileNeed(fleet, someNeed({ tenantId: 'acme', preferredPoolId: 1 }));
    const selection = select(fleet, compiled, { ...options, policy: 'weighted_random' });
    expect([selection.next(), selection.next()]).toEqual(['x', 'y']);
    const bound = planOf(many, { isStrict: true, tenantPools: new Map([['acme', 3]]) });
    fleet.changePools(createPoolMap(bound))(Number.POSITIVE_INFINITY);
    expect([selection.next(), selection.next()]).toEqual(['z', undefined]);
  });
});

describe('the preferred pool of a session', () => {
  const languages = {
    source: 'en',
    target: 'zh',
    directions: [{ source: 'en', target: 'zh' }],
    isSourceAuto: false,
    isPairUnknown: false,
  };
  const speaking = (language: string) => ({ ...having(language), tts: [language], asr: ['en', language] });
  const views = [nodeView('n1', { profile: speaking('zh') }), nodeView('n2', { profile: speaking('de') })];
  const plan = planOf([pool(1, ['zh']), pool(2, ['de']), pool(3, ['none'])]);

  it('is one with nodes for the languages', () => {
    const fleet = dividedFleet(plan, ...views);
    for (let n = 0; n < 20; n++) {
      const seeker = { tenantId: 'default', sessionId: `s-${n}` };
      expect(createPreferPool(fleet)(seeker, languages)).toBe(1);
    }
  });

  it('is the pool of the tenant, whatever its nodes', () => {
    const fleet = dividedFleet({ ...plan, tenantPools: new Map([['acme', 3]]) }, ...views);
    expect(createPreferPool(fleet)({ tenantId: 'acme', sessionId: 's' }, languages)).toBe(3);
  });

  it('is computed once for all sessions until the fleet changes', () => {
    const fleet = dividedFleet(plan, ...views);
    const prefer = createPreferPool(fleet);
    const seek = (n: number) => prefer({ tenantId: 'default', sessionId: `s-${n}` }, languages);
    const all = () => new Set(Array.from({ length: 50 }, (_, n) => seek(n)));
    let looks = 0;
    const { facts } = fleet.table;
    const read = facts.words;
    facts.words = (key) => {
      looks += 1;
      return read(key);
    };
    expect(all()).toEqual(new Set([1]));
    expect(looks).toBe(3);
    fleet.upsert(nodeView('n3', { profile: { ...speaking('zh'), installedServices: ['none'] } }));
    expect(all()).toEqual(new Set([1, 3]));
    fleet.changePools(createPoolMap(planOf([pool(7)])))(Number.POSITIVE_INFINITY);
    expect(all()).toEqual(new Set([7]));
  });

  it('is undefined without pools for the languages', () => {
    const seeker = { tenantId: 'default', sessionId: 's' };
    expect(createPreferPool(dividedFleet(plan))(seeker, languages)).toBeUndefined();
    const fleet = dividedFleet(plan, ...views);
    fleet.changePools(undefined)(1);
    expect(createPreferPool(fleet)(seeker, languages)).toBeUndefined();
  });
});
