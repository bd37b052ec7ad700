/** The smallest fleet that is enough is found, and the same one again. */
import { describe, expect, it } from 'vitest';
import {
  erlangNodes,
  findFleet,
  isEnough,
  smallest,
  usualLength,
} from '../../../src/simulation/plan/find-fleet.ts';
import type { Workload } from '../../../src/simulation/plan/workload.ts';

const WORKLOAD: Workload = {
  arrivalsPerSecond: 250,
  serviceMs: 40,
  spread: { kind: 'fixed' },
  slots: 2,
  maxWaitMs: 160,
};
const TARGET = { waitP99Ms: 16, refused: 0.001 };

describe('the search', () => {
  it.each([1, 2, 3, 7, 8, 63, 64, 100])('finds %i from any guess, with few looks', async (right) => {
    for (const guess of [1, 2, 5, 50, 64, 120]) {
      const asked: number[] = [];
      const enough = async (size: number): Promise<boolean> => {
        asked.push(size);
        return size >= right;
      };
      expect(await smallest(guess, enough)).toBe(right);
      expect(Math.min(...asked)).toBeGreaterThan(0);
      expect(asked.length).toBeLessThan(3 + 2 * Math.log2(2 + Math.abs(guess - right)));
    }
  });
});

describe('a fleet that was found', () => {
  it('is enough, one node fewer is not, and its neighbours show it', async () => {
    const found = await findFleet({
      workload: WORKLOAD,
      target: TARGET,
      length: { warmUp: 100, counted: 1_000 },
      seed: '1',
    });
    expect(found?.neighbours.map(({ nodes }) => nodes - (found?.nodes ?? 0))).toEqual([-2, -1, 0, 1, 2, 3]);
    expect(found?.neighbours.map((size) => isEnough(size, TARGET))).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
    // Services that all take the same time make for shorter waits than the formula knows.
    expect(found?.nodes).toBeLessThan(found?.erlangNodes ?? 0);
  });

  it('keeps the promise about refusals, too', async () => {
    const length = { warmUp: 100, counted: 1_000 };
    const workload = { ...WORKLOAD, maxWaitMs: 0 };
    const target = { ...TARGET, refused: 0.01 };
    const found = await findFleet({ workload, target, length, seed: '1' });
    const refused = found?.neighbours.map((size) => size.refused) ?? [];
    expect(refused[1]).toBeGreaterThan(0.01);
    expect(refused[2]).toBeLessThanOrEqual(0.01);
  });
});

describe('the formula', () => {
  it('gives the fewest nodes that keep both promises', () => {
    expect(erlangNodes({ ...WORKLOAD, maxWaitMs: 800 }, TARGET)).toBe(8);
    expect(erlangNodes({ ...WORKLOAD, maxWaitMs: 0 }, { ...TARGET, refused: 0.01 })).toBe(9);
  });

  it('ends also if nobody at all may be refused', () => {
    expect(erlangNodes({ ...WORKLOAD, maxWaitMs: 0 }, { waitP99Ms: 0, refused: 0 })).toBeGreaterThan(9);
  });
});

describe('the length of a simulation', () => {
  it('is enough for a p99, but no weeks for little work', () => {
    expect(usualLength(WORKLOAD)).toEqual({ warmUp: 4_000, counted: 40_000 });
    expect(usualLength({ ...WORKLOAD, arrivalsPerSecond: 0.5 }).counted).toBe(7_200);
    expect(usualLength({ ...WORKLOAD, arrivalsPerSecond: 0.01 }).counted).toBe(1_000);
  });

  it('fills a large fleet before it counts', () => {
    const large = { ...WORKLOAD, arrivalsPerSecond: 125_000 };
    expect(usualLength(large)).toEqual({ warmUp: 40_000, counted: 100_000 });
  });

  it('is what was asked for', () => {
    expect(usualLength(WORKLOAD, 20).counted).toBe(5_000);
  });
});
