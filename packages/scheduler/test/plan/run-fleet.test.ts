/** The real engine on virtual time waits exactly as theory says: one line, first come, first served, any free slot of any node. */
import { describe, expect, it } from 'vitest';
import { erlangB, erlangC } from '../../src/plan/erlang.ts';
import { runFleet } from '../../src/plan/run-fleet.ts';
import { sizeFigures } from '../../src/plan/size-figures.ts';
import type { Spread, Workload } from '../../src/plan/workload.ts';
import { standInLine } from './one-line.ts';

const PATIENT_MS = 100_000_000;

const workloadOf = (all: Partial<Workload> & { busy: number; nodes: number }): Workload => {
  const { busy, nodes, ...given } = all;
  const usual = {
    serviceMs: 40,
    spread: { kind: 'exp' } as Spread,
    slots: 4,
    maxWaitMs: PATIENT_MS,
    ...given,
  };
  return { ...usual, arrivalsPerSecond: (busy * nodes * usual.slots * 1_000) / usual.serviceMs };
};

async function run(workload: Workload, nodes: number, arrivals: number, seed = 'plan') {
  const found = await runFleet({ workload, nodes, arrivals, seed });
  if (found === undefined) throw new Error('was interrupted');
  return found;
}

describe('a simulated fleet', () => {
  it.each([
    [1, 1, 0.9, { kind: 'exp' }],
    [1, 4, 0.8, { kind: 'lognormal', sigma: 0.6 }],
    [5, 4, 0.95, { kind: 'exp' }],
    [40, 2, 0.97, { kind: 'fixed' }],
  ] as const)(
    'of %i nodes with %i slots, %d busy, serves like one line: %j',
    async (nodes, slots, busy, spread) => {
      const workload = workloadOf({ nodes, slots, busy, spread });
      const { waitsMs } = await run(workload, nodes, 2_000);
      const line = standInLine(workload, nodes * slots, 2_000, 'plan').waitsMs;
      expect(line.filter((wait) => wait > 0).length).toBeGreaterThan(200);
      const worst = waitsMs.reduce(
        (most, wait, at) => Math.max(most, Math.abs(wait - (line[at] as number))),
        0,
      );
      expect(worst).toBeLessThan(0.001);
    },
  );

  it.each([
    [1, 1, 0.5],
    [1, 4, 0.7],
  ])('of %i nodes with %i slots, %d busy, agrees with Erlang-C', async (nodes, slots, busy) => {
    const [warmUp, arrivals] = [1_000, 21_000];
    const workload = workloadOf({ nodes, slots, busy });
    const fleet = await run(workload, nodes, arrivals);
    const figures = sizeFigures(fleet, warmUp, { nodes, slots: nodes * slots });
    const theory = erlangC(nodes * slots, figures.busy * nodes * slots, mean(fleet.servicesMs));
    expect(figures.refused).toBe(0);
    expect(Math.abs(figures.waited / theory.waitProbability - 1)).toBeLessThan(0.03);
    expect(Math.abs(figures.meanMs / theory.meanWaitMs - 1)).toBeLessThan(0.08);
    expect(Math.abs(figures.p99Ms / theory.waitQuantileMs(0.99) - 1)).toBeLessThan(0.15);
  });

  it.each([
    [2, 2, 0.8, { kind: 'exp' }],
    [3, 4, 0.9, { kind: 'fixed' }],
  ] as const)(
    'of %i nodes with %i slots, %d busy, without waiting refuses as Erlang-B says: %j',
    async (nodes, slots, busy, spread) => {
      const workload = workloadOf({ nodes, slots, busy, spread, maxWaitMs: 0 });
      const fleet = await run(workload, nodes, 12_000);
      const figures = sizeFigures(fleet, 1_000, { nodes, slots: nodes * slots });
      const lost = erlangB(nodes * slots, busy * nodes * slots);
      expect(Math.abs(figures.refused / lost - 1)).toBeLessThan(0.06);
      expect(figures.p99Ms).toBe(0);
    },
  );

  it('refuses only jobs that waited for too long', async () => {
    const workload = workloadOf({ nodes: 2, busy: 1.5, maxWaitMs: 200 });
    const { waitsMs } = await run(workload, 2, 2_000);
    const served = waitsMs.filter((wait) => !Number.isNaN(wait));
    // A third of the work is too much.
    expect(1 - served.length / waitsMs.length).toBeGreaterThan(0.25);
    expect(1 - served.length / waitsMs.length).toBeLessThan(0.4);
    // Limits are looked at 50 times a second.
    expect(Math.max(...served)).toBeGreaterThan(180);
    expect(Math.max(...served)).toBeLessThanOrEqual(240);
  });

  it('does the same again with the same seed, and something else with another', async () => {
    const workload = workloadOf({ nodes: 3, busy: 0.95, maxWaitMs: 30 });
    const once = await run(workload, 3, 500, 'a');
    expect(await run(workload, 3, 500, 'a')).toEqual(once);
    expect((await run(workload, 3, 500, 'b')).waitsMs).not.toEqual(once.waitsMs);
  });

  it('gets the same work whatever its size', async () => {
    const workload = workloadOf({ nodes: 3, busy: 0.9 });
    const [small, large] = [await run(workload, 3, 300), await run(workload, 6, 300)];
    expect(large.arrivedAt).toEqual(small.arrivedAt);
    expect(large.servicesMs).toEqual(small.servicesMs);
  });

  it('stops when it is interrupted', async () => {
    const workload = workloadOf({ nodes: 3, busy: 0.9 });
    const controller = new AbortController();
    const running = runFleet({
      workload,
      nodes: 3,
      arrivals: 1_000_000,
      seed: 'x',
      interrupted: controller.signal,
    });
    controller.abort();
    expect(await running).toBeUndefined();
  });
});

const mean = (values: Float64Array): number => values.reduce((sum, each) => sum + each, 0) / values.length;
