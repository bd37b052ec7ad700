/** The smallest fleet that is enough is found, and the same one again. */
import { describe, expect, it } from 'vitest';
import { erlangNodes, findFleet, smallest, usualLength } from '../../src/plan/find-fleet.ts';
import { settlingJobs } from '../../src/plan/settling-time.ts';
import type { Workload } from '../../src/plan/workload.ts';

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
    expect(found?.neighbours.map(({ verdict }) => verdict)).toEqual([
      'too_few',
      'too_few',
      'enough',
      'enough',
      'enough',
      'enough',
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

  it('ends if no job may be refused', () => {
    expect(erlangNodes({ ...WORKLOAD, maxWaitMs: 0 }, { waitP99Ms: 0, refused: 0 })).toBeGreaterThan(9);
  });
});

describe('the time to settle', () => {
  const jobs = (nodes: number, given: Partial<Workload> = {}) =>
    settlingJobs({ ...WORKLOAD, maxWaitMs: 10_000, spread: { kind: 'exp' }, ...given }, nodes);

  it('grows without end as the work comes near to what the slots can do', () => {
    // 10 of 20, 12 and 10 slots.
    expect(jobs(10)).toBe(10);
    expect(jobs(6)).toBeGreaterThan(10 * jobs(10));
    expect(jobs(5)).toBeGreaterThan(1_000 * jobs(6));
  });

  it('is bounded if no job waits for long', () => {
    expect(jobs(5, { maxWaitMs: 0 })).toBe(10);
    expect(jobs(5, { maxWaitMs: 400 })).toBeLessThan(jobs(5) / 100);
  });

  it('keeps a fleet without a single slot too many from being found enough by a short run', async () => {
    const workload: Workload = { ...WORKLOAD, arrivalsPerSecond: 5_000, slots: 40, maxWaitMs: 10_000 };
    const length = { warmUp: 1_000, counted: 2_000 };
    const found = await findFleet({ workload, target: { ...TARGET, waitP99Ms: 40 }, length, seed: '1' });
    const full = found?.neighbours.find(({ slots }) => slots === 200);
    expect(full?.p99Ms).toBeLessThan(40);
    expect(full?.verdict).toBe('not_settled');
    expect(found?.nodes).toBeGreaterThan(5);
  });
});

describe('the length of a simulation', () => {
  it('is not accepted if no fleet could settle in it', async () => {
    const workload = { ...WORKLOAD, arrivalsPerSecond: 25_000 };
    const length = { warmUp: 1_000, counted: 9_999 };
    await expect(findFleet({ workload, target: TARGET, length, seed: '1' })).rejects.toThrow(/settles/);
  });

  it('is enough for a p99, but no weeks for little work', () => {
    expect(usualLength(WORKLOAD, TARGET)).toEqual({ warmUp: 4_000, counted: 40_000 });
    expect(usualLength({ ...WORKLOAD, arrivalsPerSecond: 0.5 }, TARGET).counted).toBe(7_200);
    expect(usualLength({ ...WORKLOAD, arrivalsPerSecond: 0.01 }, TARGET).counted).toBe(1_000);
  });

  it('fills a large fleet before it counts', () => {
    const large = { ...WORKLOAD, arrivalsPerSecond: 125_000 };
    expect(usualLength(large, TARGET)).toEqual({ warmUp: 40_000, counted: 120_000 });
  });

  it('is what was asked for', () => {
    expect(usualLength(WORKLOAD, TARGET, 20).counted).toBe(5_000);
  });
});
