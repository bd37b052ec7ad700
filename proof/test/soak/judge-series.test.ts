/** The slope test: what is a leak, and what only looks like one. Noise is seeded. */
import { describe, expect, it } from 'vitest';
import { createSeededChance } from '../../../packages/scheduler/src/cli/simulated-node/seeded-chance.ts';
import { judgeSeries, type Verdict } from '../../src/soak/judge/judge-series.ts';
import { type Point, trendOf } from '../../src/soak/judge/trend.ts';

const TOLERANCE = { partPerHour: 0.05, floor: 1 };
const SEEDS = Array.from({ length: 40 }, (_, seed) => seed);

/** A sample every second; `noise` is uniform in ±1. */
function series(seconds: number, valueAt: (at: number, noise: () => number) => number, seed = 1): Point[] {
  const chance = createSeededChance(seed);
  const noise = (): number => chance() * 2 - 1;
  return Array.from({ length: seconds }, (_, at) => ({ at, value: valueAt(at, noise) }));
}

const verdicts = (make: (seed: number) => Point[]): Set<Verdict> =>
  new Set(SEEDS.map((seed) => judgeSeries(make(seed), TOLERANCE).verdict));

describe('a series is steady', () => {
  it('if it is flat noise, for every seed', () => {
    expect(verdicts((seed) => series(600, (_, noise) => 100 + 10 * noise(), seed))).toEqual(
      new Set(['steady']),
    );
  });

  it('if it never changes, at 0 as well', () => {
    expect(
      judgeSeries(
        series(300, () => 0),
        TOLERANCE,
      ),
    ).toMatchObject({ verdict: 'steady', perHour: 0 });
    expect(
      judgeSeries(
        series(300, () => 42),
        TOLERANCE,
      ),
    ).toMatchObject({ verdict: 'steady', level: 42 });
  });

  it.each([7, 23, 60, 110, 200, 450])('if it is the sawtooth of a garbage collector of %i s', (period) => {
    const shifted = (seed: number): Point[] =>
      series(600, (at, noise) => 40 + 20 * (((at + seed * 17) % period) / period) + noise(), seed);
    expect(verdicts(shifted)).toEqual(new Set(['steady']));
  });

  it('in nearly all cases if it is a random walk that returns', () => {
    // Each sample depends on the one before: neighbours are similar for a minute.
    const wandering = (seed: number): Point[] => {
      let value = 0;
      return series(
        600,
        (_, noise) => {
          value = 0.98 * value + noise();
          return 100 + value;
        },
        seed,
      );
    };
    const alarms = SEEDS.filter((seed) => judgeSeries(wandering(seed), TOLERANCE).verdict === 'grows');
    expect(alarms.length).toBeLessThan(2);
  });

  it('if it grows for sure, but by less than the floor or its share of the level', () => {
    const slow = series(600, (at) => 10 + at * 0.001);
    expect(judgeSeries(slow, TOLERANCE)).toMatchObject({ verdict: 'steady' });
    expect(judgeSeries(slow, { ...TOLERANCE, floor: 0.1 })).toMatchObject({ verdict: 'grows' });
    const great = series(3_600, (at) => 1_000 + at * 0.005);
    expect(judgeSeries(great, TOLERANCE)).toMatchObject({ verdict: 'steady' });
    expect(judgeSeries(great, { ...TOLERANCE, partPerHour: 0.01 })).toMatchObject({ verdict: 'grows' });
  });

  it('if it falls', () => {
    expect(
      judgeSeries(
        series(600, (at, noise) => 100 - at * 0.05 + noise()),
        TOLERANCE,
      ),
    ).toMatchObject({
      verdict: 'steady',
    });
  });

  it('if a few samples near its end are far too high', () => {
    const late = series(600, (at, noise) => 100 + noise() + (at > 500 && at % 20 === 0 ? 1_000 : 0));
    expect(judgeSeries(late, TOLERANCE)).toMatchObject({ verdict: 'steady' });
  });
});

describe('a series grows', () => {
  it('if it leaks steadily under noise that is larger than the leak', () => {
    const leaking = (seed: number): Point[] =>
      series(600, (at, noise) => 100 + at * 0.02 + 3 * noise(), seed);
    expect(verdicts(leaking)).toEqual(new Set(['grows']));
    const { perHour, perHourAtLeast } = judgeSeries(leaking(1), TOLERANCE);
    expect(perHour).toBeGreaterThan(50);
    expect(perHour).toBeLessThan(94);
    expect(perHourAtLeast).toBeGreaterThan(0);
    expect(perHourAtLeast).toBeLessThan(perHour);
  });

  it('if the floor under the sawtooth rises', () => {
    const rising = (seed: number): Point[] =>
      series(600, (at, noise) => 40 + 5 * ((at % 23) / 23) + at * 0.02 + noise(), seed);
    expect(verdicts(rising)).toEqual(new Set(['grows']));
  });

  it('if it grows ever faster', () => {
    const faster = (seed: number): Point[] =>
      series(600, (at, noise) => 100 + 20 * (at / 600) ** 2 + 0.5 * noise(), seed);
    expect(verdicts(faster)).toEqual(new Set(['grows']));
  });

  it('if it rises in waves and has only a few dozen samples', () => {
    const waves = series(24, (at, noise) => 28 + 0.12 * at + 0.15 * Math.sin(at / 3) + 0.02 * noise());
    expect(judgeSeries(waves, TOLERANCE)).toMatchObject({ verdict: 'grows' });
  });

  it('if it leaks a whole handle from time to time', () => {
    const steps = series(600, (at) => 30 + Math.floor(at / 60));
    expect(judgeSeries(steps, TOLERANCE)).toMatchObject({ verdict: 'grows' });
  });
});

it('a series that grows only during warm-up does not grow', () => {
  const warming = (seed: number): Point[] =>
    series(600, (at, noise) => 100 + 40 * (1 - Math.exp(-at / 60)) + 0.2 * noise(), seed);
  expect(verdicts(warming).has('grows')).toBe(false);
});

it('a series settles that grew, but not in its second half', () => {
  const filling = (seed: number): Point[] =>
    series(600, (at, noise) => 100 + 40 * (1 - Math.exp(-at / 110)) + 0.05 * noise(), seed);
  const found = SEEDS.map((seed) => judgeSeries(filling(seed), TOLERANCE).verdict);
  expect(found).not.toContain('grows');
  expect(found).toContain('settles');
});

it('a series of a few samples is not judged', () => {
  expect(
    judgeSeries(
      series(9, (at) => at),
      TOLERANCE,
    ),
  ).toMatchObject({ verdict: 'too_short', perHour: 0 });
  expect(judgeSeries([], TOLERANCE)).toMatchObject({ verdict: 'too_short', level: 0 });
});

describe('a trend', () => {
  const LINE = series(30, (at) => 5 + at * 2);

  it('is exact on a line, and its bound is the line', () => {
    expect(trendOf(LINE, 3.1)).toEqual({ perSecond: 2, perSecondAtLeast: 2 });
  });

  it('is not changed by a quarter of wrong samples', () => {
    const broken = LINE.map((point) =>
      point.at % 4 === 0 ? { ...point, value: 9_999 * (point.at % 3) } : point,
    );
    expect(trendOf(broken, 3.1).perSecond).toBeCloseTo(2, 0);
  });

  it('has a wider bound for a higher confidence', () => {
    const noisy = series(30, (at, noise) => at + 8 * noise(), 3);
    const [sure, surer] = [1.64, 3.1].map((z) => trendOf(noisy, z).perSecondAtLeast) as [number, number];
    expect(surer).toBeLessThan(sure);
    expect(sure).toBeLessThan(trendOf(noisy, 1.64).perSecond);
  });
});
