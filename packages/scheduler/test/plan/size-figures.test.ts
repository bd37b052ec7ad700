/** What a run says of a size: waits of those who were served, refusals of all, and how sure both are. */
import { describe, expect, it } from 'vitest';
import { sizeFigures } from '../../src/plan/size-figures.ts';

const SIZE = { nodes: 2, slots: 8 };

/** One job per 100 ms, each of them 400 ms long. */
const runOf = (waits: readonly number[]) => ({
  waitsMs: Float64Array.from(waits),
  servicesMs: new Float64Array(waits.length).fill(400),
  arrivedAt: Float64Array.from(waits, (_, at) => 100 * at),
});

describe('the figures of a size', () => {
  it('are percentiles of those who were served', () => {
    const waits = Array.from({ length: 1_000 }, (_, at) => (at % 100) + 1);
    const { p50Ms, p95Ms, p99Ms, meanMs, waited, refused, busy } = sizeFigures(runOf(waits), 0, SIZE);
    expect([p50Ms, p95Ms, p99Ms, meanMs]).toEqual([50, 95, 99, 50.5]);
    expect([waited, refused]).toEqual([1, 0]);
    expect(busy).toBeCloseTo(0.5, 2);
  });

  it('count refusals apart, and take no work for granted that was not done', () => {
    const waits = Array.from({ length: 1_000 }, (_, at) => (at % 4 === 0 ? Number.NaN : 0));
    const { p99Ms, waited, refused, busy } = sizeFigures(runOf(waits), 0, SIZE);
    expect([p99Ms, waited, refused]).toEqual([0, 0, 0.25]);
    expect(busy).toBeCloseTo(0.375, 2);
  });

  it('leave out what came while the fleet was filled', () => {
    const waits = [...new Array(500).fill(9_999), ...new Array(500).fill(1)];
    expect(sizeFigures(runOf(waits), 500, SIZE).p99Ms).toBe(1);
  });

  it('are as sure as their batches agree', () => {
    const even = Array.from({ length: 1_000 }, (_, at) => at % 100);
    expect(sizeFigures(runOf(even), 0, SIZE).p99Range).toEqual([98, 98]);
    // Batches of 0 and of 100, five of each: a standard error of 52.7 / √10.
    const uneven = Array.from({ length: 1_000 }, (_, at) => (at % 200 < 100 ? 0 : 100));
    const [low, high] = sizeFigures(runOf(uneven), 0, SIZE).p99Range;
    expect([low, high].map(Math.round)).toEqual([62, 138]);
  });

  it('are no figures, but no fault either, if everybody was refused', () => {
    const { p99Ms, meanMs, busy, refused } = sizeFigures(runOf(new Array(100).fill(Number.NaN)), 0, SIZE);
    expect([p99Ms, meanMs, busy, refused]).toEqual([0, 0, 0, 1]);
  });
});
