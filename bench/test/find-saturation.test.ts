/** The search for the highest rate that the server sustains: measured, never guessed. */
import { describe, expect, it } from 'vitest';
import { findSaturation, type Probe } from '../src/open-loop/find-saturation.ts';

/** A server that keeps up until `breaksAt`, and whose p99 grows without bound beyond. */
function server(breaksAt: number) {
  const tried: number[] = [];
  return {
    tried,
    async probe(rate: number): Promise<Probe> {
      tried.push(rate);
      return { p99Ms: rate <= breaksAt ? 2 : 800, refusedShare: 0 };
    },
  };
}

const find = (probe: (rate: number) => Promise<Probe>, from = 100, most = 100_000) =>
  findSaturation({ from, limitMs: 50, precision: 0.1, most, probe });

describe('saturation', () => {
  it.each([130, 999, 5_432, 40_000])(
    'at %i/s is found within its precision, from below',
    async (breaksAt) => {
      const { rate, isFound, tried } = await find(server(breaksAt).probe);
      expect(isFound).toBe(true);
      expect(rate).toBeLessThanOrEqual(breaksAt);
      expect(rate).toBeGreaterThan(breaksAt / 1.11);
      // Rates on both sides of it were measured.
      expect(tried.some((each) => each.rate === rate && each.isWithin)).toBe(true);
      expect(tried.some((each) => each.rate > rate && each.rate <= rate * 1.1 && !each.isWithin)).toBe(true);
    },
  );

  it('below the first rate is found by going down', async () => {
    const { rate } = await find(server(17).probe);
    expect(rate).toBeLessThanOrEqual(17);
    expect(rate).toBeGreaterThan(15);
  });

  it('is 0 if the server sustains no rate, and the search ends', async () => {
    const { rate, isFound } = await find(server(0).probe);
    expect({ rate, isFound }).toEqual({ rate: 0, isFound: true });
  });

  it('is not reported if the server sustains the highest rate offered', async () => {
    const { tried, probe } = server(1e9);
    expect(await find(probe, 100, 1_000)).toMatchObject({ rate: 1_000, isFound: false });
    expect(tried).toEqual([100, 200, 400, 800, 1_000]);
  });

  it('needs two bad probes: a short slowdown is no saturation', async () => {
    let isFirst = true;
    const { probe } = server(1_000);
    const { rate } = await find(async (tried) => {
      if (tried !== 400 || !isFirst) return probe(tried);
      isFirst = false;
      return { p99Ms: 900, refusedShare: 0 };
    });
    expect(rate).toBeGreaterThan(900);
  });

  it('is reached by refusals as well: fast refusals are no service', async () => {
    const { rate } = await find(async (tried) => ({ p99Ms: 1, refusedShare: tried > 300 ? 0.2 : 0 }));
    expect(rate).toBeLessThanOrEqual(300);
    expect(rate).toBeGreaterThan(270);
  });
});
