/** Capability pools: where a node belongs, and which pools promise what a job requires. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANY } from '../../src/domain/language.ts';
import {
  fits,
  fittingPools,
  homeOf,
  isEligible,
  type PoolPlan,
  type PoolRequirement,
  UNPOOLED,
} from '../../src/domain/pool.ts';
import { type NodeBinding, type NodeProfile, nmtProduct } from '../../src/domain/profile.ts';
import { anyProfile } from '../runtime/fleet/fleet-fixture.ts';
import { planOf, pool } from '../runtime/pools/pool-fixture.ts';

const having = (...installedServices: string[]): NodeProfile => ({
  ...anyProfile,
  installedTypes: ['asr', 'nmt'],
  installedServices,
  features: ['emotion_detection'],
});

const languages = { asr: ['en'], tts: [], semantic: [], pairs: [{ source: 'en', target: 'zh' }] };

describe('a node', () => {
  it('fits a pool if it has every service, type or feature that the pool lists', () => {
    const profile = having('m2m');
    expect(fits(pool(1, []), profile)).toBe(true);
    expect(fits(pool(1, ['m2m', 'asr', 'emotion_detection']), profile)).toBe(true);
    expect(fits(pool(1, ['m2m', 'tts']), profile)).toBe(false);
    expect(fits(pool(1, ['whisper']), profile)).toBe(false);
  });

  it('without declared types has all types, and no services by that', () => {
    expect(fits(pool(1, ['tts', 'tone']), anyProfile)).toBe(true);
    expect(fits(pool(1, ['m2m']), anyProfile)).toBe(false);
  });

  it('fits a pool with languages only if it has them all', () => {
    const wanted = pool(1, [], { languages });
    expect(fits(wanted, anyProfile)).toBe(true);
    expect(fits(wanted, { ...anyProfile, asr: ['en', 'de'] })).toBe(true);
    expect(fits(wanted, { ...anyProfile, asr: ['de'] })).toBe(false);
    expect(fits(wanted, { ...anyProfile, nmt: nmtProduct(['zh'], ANY) })).toBe(false);
  });

  it('belongs to the most specific pool that it fits, or to none', () => {
    const plan = planOf([pool(1, []), pool(2, ['m2m']), pool(3, ['m2m', 'asr']), pool(4, ['x', 'y', 'z'])]);
    expect(fittingPools(plan, having('m2m'))).toEqual([3]);
    expect(fittingPools(plan, having('other'))).toEqual([1]);
    const strict = planOf([pool(2, ['m2m'])]);
    expect(homeOf(strict, 'n', fittingPools(strict, having('other')))).toBe(UNPOOLED);
  });

  it('prefers a pool with languages over one with the same services', () => {
    const plan = planOf([pool(1, ['m2m']), pool(2, ['m2m'], { languages })]);
    expect(fittingPools(plan, having('m2m'))).toEqual([2]);
  });

  it('is spread by id and seed over equally specific pools', () => {
    const plan = (hashSeed: number) =>
      planOf([pool(7, ['m2m']), pool(8, ['m2m']), pool(9, [])], { hashSeed });
    const homes = (seed: number) =>
      Array.from({ length: 400 }, (_, n) => homeOf(plan(seed), `node-${n}`, [7, 8]));
    expect(homes(1)).toEqual(homes(1));
    expect(homes(1)).not.toEqual(homes(2));
    const sevens = homes(1).filter((home) => home === 7).length;
    expect(sevens).toBeGreaterThan(150);
    expect(sevens).toBeLessThan(250);
  });

  it('is in exactly one bucket when no pools are configured', () => {
    const plan = planOf([], { bucketCount: 5 });
    const homes = new Set(
      Array.from({ length: 200 }, (_, n) => homeOf(plan, `node-${n}`, fittingPools(plan, having()))),
    );
    expect([...homes].sort()).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('a node with a token', () => {
  const plan = planOf([pool(1, ['m2m']), pool(2, ['m2m']), pool(3, ['m2m'], { isDedicated: true })], {
    tenantPools: new Map([['acme', 2]]),
  });
  const poolsOf = (binding: NodeBinding | undefined, of = plan) =>
    fittingPools(of, { ...having('m2m'), ...(binding !== undefined && { binding }) });

  it('joins no dedicated pool, unless the token names it or its tenant', () => {
    expect(poolsOf({})).toEqual([1]);
    expect(poolsOf({ tenantId: 'acme' })).toEqual([1, 2]);
    expect(poolsOf({ tenantId: 'globex' })).toEqual([1]);
    expect(poolsOf(undefined)).toEqual([1, 2, 3]);
  });

  it('joins only the pools that the token names, if it names some', () => {
    expect(poolsOf({ poolIds: [3] })).toEqual([3]);
    expect(poolsOf({ poolIds: [2, 3] })).toEqual([2, 3]);
    expect(poolsOf({ poolIds: [9], tenantId: 'acme' })).toEqual([]);
  });

  it('joins no bucket of a tenant by the choice of its id', () => {
    const buckets = planOf([], { bucketCount: 4, tenantPools: new Map([['acme', 2]]) });
    expect(poolsOf({}, buckets)).toEqual([0, 1, 3]);
    expect(poolsOf({ poolIds: [2] }, buckets)).toEqual([2]);
  });
});

describe('a pool', () => {
  const core = { asr: 'whisper', nmt: 'm2m' };
  const isEligibleFor = (
    stages: PoolRequirement['stages'],
    names: readonly string[] = [],
    part: Partial<PoolPlan> = {},
    ...listed: string[]
  ) => isEligible(planOf([], part), pool(1, listed), { stages, names });

  it('is eligible if it lists nothing, or nothing is required', () => {
    expect(
      isEligibleFor(['asr', 'nmt'], ['x'], { core, matchScope: 'all_required', matchMode: 'exact' }),
    ).toBe(true);
    expect(isEligibleFor([], [], { core, matchMode: 'exact' }, 'whatever')).toBe(true);
  });

  it('must list the core service of each stage, by id or by type', () => {
    expect(isEligibleFor(['asr', 'nmt'], [], { core }, 'whisper', 'm2m')).toBe(true);
    expect(isEligibleFor(['asr', 'nmt'], [], { core }, 'asr', 'm2m')).toBe(true);
    expect(isEligibleFor(['asr', 'nmt'], [], { core }, 'm2m')).toBe(false);
    expect(isEligibleFor(['asr', 'tts'], [], { core }, 'whisper', 'asr')).toBe(false);
  });

  it('with ids only says nothing about a stage without an id', () => {
    expect(isEligibleFor(['tts'], [], { core }, 'whisper')).toBe(true);
    expect(isEligibleFor(['tts'], [], {}, 'm2m')).toBe(true);
    expect(isEligibleFor(['tts'], [], {}, 'asr')).toBe(false);
  });

  it('need not list more than the core services unless the scope is all_required', () => {
    expect(isEligibleFor(['asr'], ['tone'], { core }, 'whisper')).toBe(true);
    expect(isEligibleFor(['asr'], ['tone'], { core, matchScope: 'all_required' }, 'whisper')).toBe(false);
    expect(isEligibleFor(['asr'], ['tone'], { core, matchScope: 'all_required' }, 'whisper', 'tone')).toBe(
      true,
    );
  });

  it('may not list more than the job requires if the mode is exact', () => {
    expect(isEligibleFor(['asr'], [], { core }, 'whisper', 'm2m')).toBe(true);
    expect(isEligibleFor(['asr'], [], { core, matchMode: 'exact' }, 'whisper', 'm2m')).toBe(false);
    expect(isEligibleFor(['asr', 'nmt'], [], { core, matchMode: 'exact' }, 'whisper', 'm2m')).toBe(true);
    expect(isEligibleFor(['asr', 'nmt'], [], { core, matchMode: 'exact' }, 'asr', 'nmt')).toBe(true);
  });

  it('that is eligible exactly is eligible in the wider mode', () => {
    const word = fc.constantFrom('asr', 'nmt', 'tts', 'whisper', 'm2m', 'x');
    fc.assert(
      fc.property(
        fc.uniqueArray(word),
        fc.subarray(['asr', 'nmt', 'tts'] as const),
        fc.uniqueArray(word),
        fc.constantFrom('core_only' as const, 'all_required' as const),
        fc.constantFrom({}, core),
        (listed, stages, names, matchScope, ids) => {
          const eligible = (matchMode: 'exact' | 'contains') =>
            isEligibleFor(stages, names, { core: ids, matchScope, matchMode }, ...listed);
          expect(!eligible('exact') || eligible('contains')).toBe(true);
        },
      ),
    );
  });
});
