import { describe, expect, it } from 'vitest';
import { DEFAULT_TENANT } from '../../src/domain/ids.ts';
import type { Languages } from '../../src/domain/needed-directions.ts';
import { choosePool, NO_POOLS, type Pools, stableHash } from '../../src/session/preferred-pool.ts';

const languages = (source: string, target: string): Languages => ({
  source,
  target,
  directions: [{ source, target }],
  isSourceAuto: false,
  isPairUnknown: false,
});

const EN_ZH = languages('en', 'zh');

const pools = (overrides: Partial<Pools> = {}): Pools => ({
  serving: () => [3, 5, 7],
  overrideOf: () => undefined,
  mayFallBack: true,
  hashSeed: 0,
  ...overrides,
});

const seeker = (sessionId: string, tenantId = DEFAULT_TENANT) => ({ sessionId, tenantId });

describe('the preferred pool', () => {
  it('is the whole fleet where there are no pools, or none serves the pair', () => {
    expect(choosePool(undefined, seeker('s-1'), EN_ZH, NO_POOLS).poolIds).toBeUndefined();
  });

  it('is the tenant’s own first, even if it does not serve the pair', () => {
    const own = pools({ overrideOf: (tenantId) => (tenantId === 'acme' ? 9 : undefined) });
    expect(choosePool(undefined, seeker('s-1', 'acme'), EN_ZH, own).poolIds).toEqual([9, 3, 5, 7]);
  });

  it('is then one of those that serve the pair, with the others behind it, each once', () => {
    const { poolIds = [] } = choosePool(undefined, seeker('s-1'), EN_ZH, pools());
    expect([...poolIds].sort()).toEqual([3, 5, 7]);
  });

  it('is the only one where jobs may not leave it', () => {
    const { poolIds } = choosePool(undefined, seeker('s-1'), EN_ZH, pools({ mayFallBack: false }));
    expect(poolIds).toHaveLength(1);
  });

  it('is the same for all sessions of a tenant, and spread over sessions without one', () => {
    const first = (sessionId: string, tenantId?: string) =>
      choosePool(undefined, seeker(sessionId, tenantId), EN_ZH, pools()).poolIds?.[0];
    const names = Array.from({ length: 300 }, (_, count) => `s-${count}`);
    expect(new Set(names.map((name) => first(name, 'acme'))).size).toBe(1);
    const counts = new Map<number | undefined, number>();
    for (const name of names) counts.set(first(name), (counts.get(first(name)) ?? 0) + 1);
    expect(counts.size).toBe(3);
    for (const count of counts.values()) expect(count).toBeGreaterThan(60);
  });

  it('depends on the seed', () => {
    const chosen = (hashSeed: number) =>
      Array.from(
        { length: 30 },
        (_, count) => choosePool(undefined, seeker(`s-${count}`), EN_ZH, pools({ hashSeed })).poolIds?.[0],
      );
    expect(chosen(1)).toEqual(chosen(1));
    expect(chosen(1)).not.toEqual(chosen(2));
  });

  it('is kept while the pair stays the same, whatever becomes of the pools', () => {
    const first = choosePool(undefined, seeker('s-1'), EN_ZH, pools());
    expect(choosePool(first, seeker('s-1'), EN_ZH, pools({ serving: () => [42] }))).toBe(first);
  });

  it('is chosen anew when the pair changes', () => {
    const first = choosePool(undefined, seeker('s-1'), EN_ZH, pools());
    const other = pools({ serving: () => [42] });
    expect(choosePool(first, seeker('s-1'), languages('zh', 'en'), other).poolIds).toEqual([42]);
    const both = { ...EN_ZH, directions: [...EN_ZH.directions, { source: 'zh', target: 'en' }] };
    expect(choosePool(first, seeker('s-1'), both, other).poolIds).toEqual([42]);
  });

  it('is found by a hash that is the same everywhere and always', () => {
    expect(stableHash('')).toBe(0x811c9dc5);
    expect(stableHash('a')).toBe(0xe40c292c);
    expect(stableHash('foobar')).toBe(0xbf9cf968);
  });
});
