/** The formulas give the values that tables print, and a textbook's queue obeys them. */
import { describe, expect, it } from 'vitest';
import { erlangB, erlangC } from '../../src/plan/erlang.ts';
import { quantileOf } from '../../src/plan/size-figures.ts';
import { standInLine } from './one-line.ts';

describe('Erlang-B', () => {
  it.each([
    [1, 1, 1 / 2],
    [2, 1, 1 / 5],
    [5, 3, 0.11005],
    [10, 5, 0.01838],
  ])('of %i slots and %d Erlang', (slots, offered, lost) => {
    expect(erlangB(slots, offered)).toBeCloseTo(lost, 5);
  });

  it('does not overflow with thousands of slots', () => {
    expect(erlangB(10_000, 9_900)).toBeGreaterThan(0);
    expect(erlangB(10_000, 9_900)).toBeLessThan(0.01);
  });
});

describe('Erlang-C', () => {
  it('of one slot is M/M/1', () => {
    const { waitProbability, meanWaitMs, waitQuantileMs, waitsLonger } = erlangC(1, 0.8, 1_000);
    expect(waitProbability).toBeCloseTo(0.8, 10);
    expect(meanWaitMs).toBeCloseTo(4_000, 6);
    expect(waitQuantileMs(0.99)).toBeCloseTo(5_000 * Math.log(80), 6);
    expect(waitsLonger(waitQuantileMs(0.99))).toBeCloseTo(0.01, 10);
    expect(waitQuantileMs(0.1)).toBe(0);
  });

  it('of two slots and one Erlang lets every third wait', () => {
    expect(erlangC(2, 1, 1_000).waitProbability).toBeCloseTo(1 / 3, 10);
  });

  it('never ends where the work is more than the slots can do', () => {
    expect(erlangC(4, 4, 1_000).meanWaitMs).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    [1, 0.5],
    [4, 0.8],
    [8, 0.7],
  ])('is what %i slots, %d busy, come to in the long run', (slots, busy) => {
    const arrivals = 500_000;
    const workload = {
      arrivalsPerSecond: slots * busy,
      serviceMs: 1_000,
      spread: { kind: 'exp' },
      slots,
      maxWaitMs: 1,
    } as const;
    const line = standInLine(workload, slots, arrivals, 'erlang');
    const theory = erlangC(slots, (line.perSecond * line.serviceMs) / 1_000, line.serviceMs);
    const sorted = line.waitsMs.sort();
    const waited = sorted.length - sorted.findIndex((wait) => wait > 0);
    const mean = sorted.reduce((sum, wait) => sum + wait, 0) / arrivals;
    expect(waited / arrivals / theory.waitProbability).toBeCloseTo(1, 1.7);
    expect(Math.abs(mean / theory.meanWaitMs - 1)).toBeLessThan(0.03);
    expect(Math.abs(quantileOf(sorted, 0.99) / theory.waitQuantileMs(0.99) - 1)).toBeLessThan(0.04);
  });
});
