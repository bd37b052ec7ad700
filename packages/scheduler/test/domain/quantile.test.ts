/** Percentiles from buckets equal those of Prometheus. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { quantile } from '../../src/domain/quantile.ts';

const BOUNDS = [1, 2, 5, 10];

it('a percentile lies in the bucket of its observation, spread evenly', () => {
  expect(quantile(0.5, BOUNDS, [0, 10, 0, 0, 0])).toBe(1.5);
  expect(quantile(0.5, BOUNDS, [5, 5, 0, 0, 0])).toBe(1);
  expect(quantile(0.99, BOUNDS, [50, 0, 50, 0, 0])).toBeCloseTo(2 + 3 * 0.98);
});

it('is 0 without observations, and at most the last bound', () => {
  expect(quantile(0.99, BOUNDS, [0, 0, 0, 0, 0])).toBe(0);
  expect(quantile(0.99, BOUNDS, [0, 0, 0, 0, 7])).toBe(10);
  expect(quantile(0.5, [], [])).toBe(0);
});

it('stays in the bucket of the true value and grows with the share', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.001, max: 9.99, noNaN: true }), { minLength: 1, maxLength: 200 }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      (values, q) => {
        const buckets = [...BOUNDS, Number.POSITIVE_INFINITY].map(
          (bound, at) => values.filter((value) => value <= bound && value > (BOUNDS[at - 1] ?? 0)).length,
        );
        const sorted = [...values].sort((a, b) => a - b);
        const truth = sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0;
        const upper = BOUNDS.find((bound) => truth <= bound) ?? 10;
        const lower = BOUNDS[BOUNDS.indexOf(upper) - 1] ?? 0;
        const found = quantile(q, BOUNDS, buckets);
        expect(found).toBeGreaterThanOrEqual(lower - 1e-9);
        expect(found).toBeLessThanOrEqual(upper + 1e-9);
        expect(quantile(1, BOUNDS, buckets)).toBeGreaterThanOrEqual(found - 1e-9);
      },
    ),
  );
});
