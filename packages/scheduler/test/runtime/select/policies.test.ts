/** Random choice is fair among equal nodes, and the policies weigh what they promise. */
import { describe, expect, it } from 'vitest';
import { createFleetView, type FleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { compileNeed } from '../../../src/runtime/select/compile-need.ts';
import { type SelectOptions, select } from '../../../src/runtime/select/select.ts';
import { anyProfile, nodeView, seededChance, someNeed } from '../fleet/fleet-fixture.ts';
import { createPooledFleet, inPools, type NamedNeed } from '../fleet/named-pools.ts';

const NO_EXCLUSIONS: ReadonlySet<string> = new Set();
const POLICIES = ['weighted_random', 'least_loaded', 'fastest'] as const;

/** How often each node comes first. */
function firsts(
  fleet: FleetView,
  rounds: number,
  options: Partial<SelectOptions> = {},
  need: Partial<NamedNeed> = {},
): Map<string, number> {
  const chance = seededChance(7);
  const compiled = compileNeed(fleet, someNeed(need));
  const counts = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    const all = {
      chance,
      sampleK: 20,
      policy: 'weighted_random',
      excluded: NO_EXCLUSIONS,
      ...options,
    } as const;
    const id = select(fleet, compiled, all).next() as string;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/** Σ (seen − expected)² / expected, in standard deviations from its mean: above 4 the draw is unfair. */
function surprise(counts: Map<string, number>, shares: Map<string, number>): number {
  const rounds = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let chiSquare = 0;
  for (const [id, share] of shares)
    chiSquare += ((counts.get(id) ?? 0) - rounds * share) ** 2 / (rounds * share);
  const freedom = shares.size - 1;
  return (chiSquare - freedom) / Math.sqrt(2 * freedom);
}

const equalShares = (ids: string[]): Map<string, number> => new Map(ids.map((id) => [id, 1 / ids.length]));

const crowd = (size: number, slots = (_: number): number => 4): FleetView => {
  const fleet = createPooledFleet();
  for (let n = 0; n < size; n++)
    fleet.upsert(nodeView(`n${n}`, { slots: slots(n), profile: inPools(anyProfile, n % 3) }));
  return fleet;
};

const speaker = { ...anyProfile, installedServices: ['rare'], readyServices: ['rare'] };

describe('equal nodes', () => {
  const ids = (size: number, step = 1) => Array.from({ length: size }, (_, n) => `n${n * step}`);

  it.each(POLICIES)('come first equally often when guessed: %s', (policy) => {
    const counts = firsts(crowd(200), 40_000, { policy });
    expect(surprise(counts, equalShares(ids(200)))).toBeLessThan(4);
  });

  it.each(POLICIES)('come first equally often when listed: %s', (policy) => {
    const fleet = crowd(4000);
    for (let n = 0; n < 4000; n++) if (n % 100 !== 0) fleet.setLoad(`n${n}`, { used: 4, max: 4 });
    const counts = firsts(fleet, 20_000, { policy });
    expect(surprise(counts, equalShares(ids(40, 100)))).toBeLessThan(4);
  });

  it.each(POLICIES)('come first equally often when few: %s', (policy) => {
    expect(surprise(firsts(crowd(10), 10_000, { policy }), equalShares(ids(10)))).toBeLessThan(4);
  });

  it.each([5, 40])('come first equally often when all bitmaps are read for %i of them', (rare) => {
    const fleet = crowd(4000);
    for (let n = 0; n < rare; n++) fleet.upsert(nodeView(`n${n * 100}`, { profile: speaker }));
    const counts = firsts(fleet, 10_000, {}, { services: ['rare'] });
    expect(surprise(counts, equalShares(ids(rare, 100)))).toBeLessThan(4);
  });

  it('of a pool come first equally often', () => {
    const counts = firsts(crowd(300), 20_000, {}, { poolIds: [1] });
    const members = ids(300).filter((id) => Number(id.slice(1)) % 3 === 1);
    expect(surprise(counts, equalShares(members))).toBeLessThan(4);
  });

  it('come first equally often when the sample is one node', () => {
    const counts = firsts(crowd(50), 20_000, { sampleK: 1 });
    expect(surprise(counts, equalShares(ids(50)))).toBeLessThan(4);
  });

  it('the measure detects an unfair draw', () => {
    const lopsided = new Map(ids(50).map((id, n) => [id, n < 25 ? 440 : 360]));
    expect(surprise(lopsided, equalShares(ids(50)))).toBeGreaterThan(4);
  });
});

describe('weighted_random', () => {
  it('chooses in proportion to the corrected free slots', () => {
    const fleet = crowd(5, () => 10);
    const free = [1, 2, 3, 4, 10];
    free.forEach((slots, n) => {
      fleet.setLoad(`n${n}`, { used: 10 - slots, max: 10 });
    });
    const shares = new Map(free.map((slots, n) => [`n${n}`, slots / 20]));
    expect(surprise(firsts(fleet, 20_000), shares)).toBeLessThan(4);
  });

  it('ignores loads when they are stale', () => {
    const fleet = crowd(5, (n) => (n === 0 ? 100 : 1));
    const shares = equalShares(['n0', 'n1', 'n2', 'n3', 'n4']);
    expect(surprise(firsts(fleet, 20_000, { isLoadStale: true }), shares)).toBeLessThan(4);
    expect(surprise(firsts(fleet, 20_000), shares)).toBeGreaterThan(100);
  });
});

describe('least_loaded', () => {
  const orderOf = (fleet: FleetView, seed: number): (string | undefined)[] => {
    const options = {
      chance: seededChance(seed),
      sampleK: 20,
      policy: 'least_loaded',
      excluded: NO_EXCLUSIONS,
    } as const;
    const selection = select(fleet, compileNeed(fleet, someNeed()), options);
    return Array.from({ length: fleet.size }, () => selection.next());
  };

  it('orders by the used share of the slots, whatever the age of the heartbeats', () => {
    const fleet = createFleetView();
    fleet.upsert(nodeView('half of two', { slots: 2, lastBeatAt: 9 }));
    fleet.upsert(nodeView('quarter of eight', { slots: 8, lastBeatAt: 1 }));
    fleet.upsert(nodeView('empty, old', { slots: 1, lastBeatAt: 3 }));
    fleet.setLoad('half of two', { used: 1, max: 2 });
    fleet.setLoad('quarter of eight', { used: 2, max: 8 });
    for (let seed = 0; seed < 20; seed++) {
      expect(orderOf(fleet, seed)).toEqual(['empty, old', 'quarter of eight', 'half of two']);
    }
  });

  it('is not sticky: 100 jobs of one session spread evenly over 4 idle nodes', () => {
    for (const policy of POLICIES) {
      const fleet = createFleetView();
      for (let n = 0; n < 4; n++) fleet.upsert(nodeView(`n${n}`, { lastBeatAt: 1_000 * n }));
      const counts = firsts(fleet, 100, { policy });
      expect(surprise(counts, equalShares(['n0', 'n1', 'n2', 'n3']))).toBeLessThan(4);
    }
  });

  it('finds the best of a full sample of rare candidates', () => {
    const fleet = crowd(4000);
    for (let n = 0; n < 20; n++) {
      fleet.upsert(nodeView(`n${n * 100}`, { profile: speaker }));
      fleet.setLoad(`n${n * 100}`, { used: n === 13 ? 1 : 2, max: 4 });
    }
    const counts = firsts(fleet, 100, { policy: 'least_loaded' }, { services: ['rare'] });
    expect(counts).toEqual(new Map([['n1300', 100]]));
  });

  it('chooses nodes with their own queue last', () => {
    const fleet = createFleetView();
    fleet.upsert(nodeView('queueing', { isQueueing: true }));
    fleet.upsert(nodeView('busy'));
    fleet.upsert(nodeView('busier'));
    fleet.setLoad('busy', { used: 2, max: 4 });
    fleet.setLoad('busier', { used: 3, max: 4 });
    expect(orderOf(fleet, 1)).toEqual(['busy', 'busier', 'queueing']);
    for (const isLoadStale of [false, true])
      expect(firsts(fleet, 200, { isLoadStale }).has('queueing')).toBe(false);
  });
});
