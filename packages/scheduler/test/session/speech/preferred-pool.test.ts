import { describe, expect, it } from 'vitest';
import { DEFAULT_TENANT } from '../../../src/domain/ids.ts';
import type { Languages } from '../../../src/domain/needed-directions.ts';
import { choosePool, NO_POOLS, type Pools } from '../../../src/session/speech/preferred-pool.ts';

const languages = (source: string, target: string): Languages => ({
  source,
  target,
  directions: [{ source, target }],
  isSourceAuto: false,
  isPairUnknown: false,
});

const EN_ZH = languages('en', 'zh');
const SEEKER = { sessionId: 's-1', tenantId: DEFAULT_TENANT };

/** Returns another pool at each call. */
function countingPools(edition = 1): Pools {
  let asked = 0;
  return { edition, preferred: () => ++asked };
}

describe('the preferred pool', () => {
  it('without pools there is no preferred pool', () => {
    expect(choosePool(undefined, SEEKER, EN_ZH, NO_POOLS).poolId).toBeUndefined();
  });

  it('the pool choice gets tenant, session and languages', () => {
    const asked: unknown[] = [];
    const pools: Pools = {
      edition: 1,
      preferred(...question) {
        asked.push(question);
        return 7;
      },
    };
    expect(choosePool(undefined, SEEKER, EN_ZH, pools).poolId).toBe(7);
    expect(asked).toEqual([[SEEKER, EN_ZH]]);
  });

  it('the pool is kept while the pair and the pools stay the same', () => {
    const pools = countingPools();
    const first = choosePool(undefined, SEEKER, EN_ZH, pools);
    expect(choosePool(first, SEEKER, EN_ZH, pools)).toBe(first);
  });

  it('the pool is chosen again while no pool has nodes', () => {
    const found = [undefined, undefined, 3];
    const pools: Pools = { edition: 1, preferred: () => found.shift() };
    let choice = choosePool(undefined, SEEKER, EN_ZH, pools);
    for (let n = 0; n < 4; n++) choice = choosePool(choice, SEEKER, EN_ZH, pools);
    expect(choice.poolId).toBe(3);
    expect(found).toEqual([]);
  });

  it('the pool is chosen anew when the pair changes', () => {
    const pools = countingPools();
    const first = choosePool(undefined, SEEKER, EN_ZH, pools);
    expect(choosePool(first, SEEKER, languages('zh', 'en'), pools).poolId).toBe(2);
    const both = { ...EN_ZH, directions: [...EN_ZH.directions, { source: 'zh', target: 'en' }] };
    expect(choosePool(first, SEEKER, both, pools).poolId).toBe(3);
  });

  it('the pool is chosen anew when the pools change', () => {
    const first = choosePool(undefined, SEEKER, EN_ZH, countingPools(1));
    const anew = choosePool(first, SEEKER, EN_ZH, { edition: 2, preferred: () => undefined });
    expect(anew).toEqual({ pair: 'en>zh', edition: 2, poolId: undefined });
  });
});
