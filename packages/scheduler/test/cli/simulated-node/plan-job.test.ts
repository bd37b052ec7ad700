/** What a simulated node decides, as a function of its behaviour and chance. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Behaviour, HEALTHY, type Latency } from '../../../src/cli/simulated-node/behaviour.ts';
import { sampleLatency } from '../../../src/cli/simulated-node/latency.ts';
import { planJob } from '../../../src/cli/simulated-node/plan-job.ts';
import { createSeededChance, seedOf } from '../../../src/cli/simulated-node/seeded-chance.ts';
import { spread } from '../../../src/cli/simulated-node/simulated-fleet.ts';

const samples = (latency: Latency, count = 20_000): number[] => {
  const chance = createSeededChance(42);
  return Array.from({ length: count }, () => sampleLatency(latency, chance)).sort((a, b) => a - b);
};
const quantile = (sorted: readonly number[], q: number): number => sorted[Math.floor(sorted.length * q)] ?? 0;
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

it('is the same for the same seed only', () => {
  const run = (seed: number): unknown[] => {
    const chance = createSeededChance(seed);
    return Array.from({ length: 50 }, (_, index) =>
      planJob({ ...HEALTHY, failureRate: 0.5 }, index + 1, chance),
    );
  };
  expect(run(1)).toEqual(run(1));
  expect(run(1)).not.toEqual(run(2));
});

it('gives neighbouring nodes independent random numbers', () => {
  const first = Array.from({ length: 1_000 }, (_, index) => createSeededChance(seedOf(1, index))());
  expect(new Set(first).size).toBe(1_000);
  expect(mean(first)).toBeGreaterThan(0.45);
  expect(mean(first)).toBeLessThan(0.55);
});

it('draws latencies from the configured distribution', () => {
  expect(samples({ kind: 'constant', ms: 12 }, 10)).toEqual(Array(10).fill(12));
  const uniform = samples({ kind: 'uniform', minMs: 100, maxMs: 200 });
  expect(uniform[0]).toBeGreaterThanOrEqual(100);
  expect(uniform.at(-1)).toBeLessThanOrEqual(200);
  const lognormal = samples({ kind: 'lognormal', medianMs: 400, p99Ms: 1_500 });
  expect(quantile(lognormal, 0.5) / 400).toBeCloseTo(1, 1);
  expect(quantile(lognormal, 0.99) / 1_500).toBeCloseTo(1, 1);
  expect(mean(samples({ kind: 'exponential', meanMs: 50 })) / 50).toBeCloseTo(1, 1);
});

it('never plans a negative or endless delay', () => {
  const time = fc.double({ min: 0.1, max: 10_000, noNaN: true });
  const latency: fc.Arbitrary<Latency> = fc.oneof(
    time.map((ms) => ({ kind: 'constant' as const, ms })),
    fc
      .tuple(time, time)
      .map(([a, b]) => ({ kind: 'uniform' as const, minMs: Math.min(a, b), maxMs: Math.max(a, b) })),
    fc
      .tuple(time, time)
      .map(([a, b]) => ({ kind: 'lognormal' as const, medianMs: Math.min(a, b), p99Ms: Math.max(a, b) })),
    time.map((meanMs) => ({ kind: 'exponential' as const, meanMs })),
  );
  fc.assert(
    fc.property(latency, fc.integer(), fc.integer({ min: 1, max: 1_000 }), (kind, seed, number) => {
      const { delayMs } = planJob({ ...HEALTHY, latency: kind }, number, createSeededChance(seed));
      expect(delayMs).toBeGreaterThanOrEqual(0);
      expect(Number.isFinite(delayMs)).toBe(true);
    }),
  );
});

it('meets its rates', () => {
  const chance = createSeededChance(9);
  const behaviour: Behaviour = { ...HEALTHY, failureRate: 0.3, duplicateRate: 0.1 };
  const plans = Array.from({ length: 10_000 }, (_, index) => planJob(behaviour, index + 1, chance));
  expect(plans.filter(({ kind }) => kind === 'fail').length / 10_000).toBeCloseTo(0.3, 1);
  expect(plans.filter(({ isRepeated }) => isRepeated).length / 10_000).toBeCloseTo(0.1, 1);
});

it('changes nothing else when one rate changes', () => {
  const latencies = (failureRate: number): number[] => {
    const chance = createSeededChance(5);
    return Array.from(
      { length: 100 },
      (_, index) => planJob({ ...HEALTHY, failureRate }, index + 1, chance).delayMs,
    );
  };
  expect(latencies(0)).toEqual(latencies(0.9));
});

it('fails slowly: each job takes longer, until none is answered', () => {
  const behaviour: Behaviour = {
    ...HEALTHY,
    latency: { kind: 'constant', ms: 10 },
    slowDeath: { afterJobs: 2, factor: 2, silentAboveMs: 50 },
  };
  const plans = [1, 2, 3, 4, 5, 6].map((number) => planJob(behaviour, number, createSeededChance(1)));
  expect(plans.map(({ delayMs }) => delayMs).slice(0, 5)).toEqual([10, 10, 20, 40, 80]);
  expect(plans.map(({ kind }) => kind)).toEqual(['answer', 'answer', 'answer', 'answer', 'silent', 'silent']);
});

it('matches the configured mix from the first nodes on', () => {
  const legacy = { ...HEALTHY, isLegacy: true };
  const kinds = spread(
    [
      { share: 3, behaviour: HEALTHY },
      { share: 1, behaviour: legacy },
    ],
    8,
  );
  expect(kinds.filter(({ isLegacy }) => isLegacy)).toHaveLength(2);
  expect(kinds.slice(0, 4).filter(({ isLegacy }) => isLegacy)).toHaveLength(1);
});
