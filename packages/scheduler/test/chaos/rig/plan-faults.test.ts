/** Plans of faults repeat themselves, contain every kind, and break no two servers at once. */
import { describe, expect, it } from 'vitest';
import { planFaults } from './plan-faults.ts';

const GREAT = /^(instance|master|store)_/;
const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

describe('a plan of faults', () => {
  it('is the same for the same seed, and another for another', () => {
    const plan = (seed: number) => JSON.stringify(planFaults({ seed, seconds: 60 }));
    expect(plan(7)).toBe(plan(7));
    expect(plan(7)).not.toBe(plan(8));
  });

  it.each(SEEDS)('has every great fault once in 45 s, one after the other, seed %i', (seed) => {
    const great = planFaults({ seed, seconds: 45 }).filter(({ what }) => GREAT.test(what));
    expect(new Set(great.map(({ what }) => what)).size).toBe(6);
    for (const [index, { atMs, lastsMs }] of great.entries())
      expect(great[index + 1]?.atMs ?? Number.POSITIVE_INFINITY).toBeGreaterThan(atMs + lastsMs);
  });

  it('leaves out what the place cannot have, and ends before the end', () => {
    const plan = planFaults({ seed: 1, seconds: 30, without: ['master_killed', 'store_down', 'node_cut'] });
    expect(plan.map(({ what }) => what)).not.toEqual(expect.arrayContaining(['master_killed']));
    expect(plan.some(({ what }) => what === 'store_down' || what === 'node_cut')).toBe(false);
    expect(Math.max(...plan.map(({ atMs }) => atMs))).toBeLessThan(27_000);
  });
});
