/** Fault plans are reproducible, contain every kind, and never break two servers at once. */
import { describe, expect, it } from 'vitest';
import { isGreat, PLANNED, planFaults } from '../../src/chaos/plan-faults.ts';

const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

describe('a fault plan', () => {
  it('is the same for the same seed, and another for another', () => {
    const plan = (seed: number) => JSON.stringify(planFaults({ seed, seconds: 60 }));
    expect(plan(7)).toBe(plan(7));
    expect(plan(7)).not.toBe(plan(8));
  });

  it.each(SEEDS)('has every large fault once in 75 s, one after the other, seed %i', (seed) => {
    const great = planFaults({ seed, seconds: 75 }).filter(({ what }) => isGreat(what));
    expect(new Set(great.map(({ what }) => what)).size).toBe(PLANNED.filter(isGreat).length);
    for (const [index, { atMs, lastsMs }] of great.entries())
      expect(great[index + 1]?.atMs ?? Number.POSITIVE_INFINITY).toBeGreaterThan(atMs + lastsMs);
  });

  it('leaves out impossible faults, and ends before the run does', () => {
    const plan = planFaults({ seed: 1, seconds: 30, without: ['master_killed', 'store_down', 'node_cut'] });
    const kinds = new Set(plan.map(({ what }) => what));
    expect([...kinds].filter((what) => /^(master_killed|store_down|node_cut)$/.test(what))).toEqual([]);
    expect(kinds.size).toBeGreaterThan(4);
    expect(Math.max(...plan.map(({ atMs }) => atMs))).toBeLessThan(27_000);
  });
});
