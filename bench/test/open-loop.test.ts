/** The open loop: when jobs arrive does not depend on earlier jobs, and a stall shows in the latency of every job that waited. */
import { describe, expect, it } from 'vitest';
import { arrivalTimes } from '../src/open-loop/arrivals.ts';
import { createChance } from '../src/open-loop/chance.ts';
import { createHistogram } from '../src/open-loop/histogram.ts';
import { openLoop, type Pace } from '../src/open-loop/open-loop.ts';

/** Time that passes only when the test waits or blocks. */
function virtualTime() {
  let now = 0;
  const pace: Pace = {
    now: () => now,
    async until(dueAt) {
      now = Math.max(now, dueAt);
    },
  };
  return {
    pace,
    stall(ms: number) {
      now += ms;
    },
  };
}

const evenly = (count: number, everyMs: number): number[] =>
  Array.from({ length: count }, (_, index) => index * everyMs);

describe('latencies counted from when a job was due', () => {
  it('show a stall of the server in every job that was due meanwhile', async () => {
    const { pace, stall } = virtualTime();
    const fromDue = createHistogram();
    const fromSending = createHistogram();
    let count = 0;
    // 1,000 jobs in 10 s; the 500th blocks everything for 2 s, as a blocked event loop does.
    await openLoop(
      evenly(1_000, 10),
      async (dueAt) => {
        const sentAt = pace.now();
        stall(count++ === 500 ? 2_000 : 0);
        fromDue.record(pace.now() - dueAt);
        fromSending.record(pace.now() - sentAt);
      },
      pace,
    );
    // 200 jobs were due in those 2 s: a fifth of all.
    expect(fromDue.percentile(0.79)).toBeLessThan(1);
    expect(fromDue.percentile(0.9)).toBeGreaterThan(900);
    expect(fromDue.percentile(0.99)).toBeGreaterThan(1_800);
    // Counted from the sending, there is one slow job and a p99 without a fault.
    expect(fromSending.percentile(0.99)).toBeLessThan(1);
  });

  it('show a server that does not answer for a while', async () => {
    const { pace } = virtualTime();
    const times = createHistogram();
    const stalled = { from: 3_000, to: 5_000 };
    await openLoop(
      evenly(1_000, 10),
      async (dueAt) => {
        const answeredAt = dueAt >= stalled.from && dueAt < stalled.to ? stalled.to : pace.now() + 1;
        times.record(answeredAt - dueAt);
      },
      pace,
    );
    expect(times.count).toBe(1_000);
    expect(times.percentile(0.9)).toBeGreaterThan(900);
  });

  it('arrive late together after a stall, and none is left out', async () => {
    const { pace, stall } = virtualTime();
    const cameAt: number[] = [];
    await openLoop(
      evenly(10, 10),
      async () => {
        cameAt.push(pace.now());
        if (cameAt.length === 3) stall(40);
      },
      pace,
    );
    expect(cameAt).toEqual([0, 10, 20, 60, 60, 60, 60, 70, 80, 90]);
  });

  it('end with the first fault of a job, after the running jobs have ended', async () => {
    const { pace } = virtualTime();
    let ended = 0;
    const loop = openLoop(
      evenly(3, 10),
      async (dueAt) => {
        await Promise.resolve();
        ended += 1;
        if (dueAt === 10) throw new Error('refused');
      },
      pace,
    );
    await expect(loop).rejects.toThrow('refused');
    expect(ended).toBe(3);
  });
});

describe('arrivals', () => {
  const timesOf = (process: 'poisson' | 'uniform' | 'bursts', seed = 1): number[] => [
    ...arrivalTimes({ process, rate: 500, burstSize: 25 }, 60_000, createChance(seed)),
  ];

  it.each(['poisson', 'uniform', 'bursts'] as const)(
    '%s: arrive at the requested rate, in order',
    (process) => {
      const times = timesOf(process);
      expect(times.length / 30_000).toBeCloseTo(1, 1);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(times.every((time) => time >= 0 && time < 60_000)).toBe(true);
    },
  );

  it('are the same for the same seed, and others for another', () => {
    expect(timesOf('poisson')).toEqual(timesOf('poisson'));
    expect(timesOf('poisson', 2)).not.toEqual(timesOf('poisson'));
  });

  it('at random have gaps as large as their mean; even ones have none', () => {
    const spread = (times: readonly number[]): number => {
      const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
      const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
      return Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length) / mean;
    };
    expect(spread(timesOf('poisson'))).toBeCloseTo(1, 1);
    expect(spread(timesOf('uniform'))).toBeCloseTo(0, 5);
    expect(spread(timesOf('bursts'))).toBeGreaterThan(4);
  });
});

describe('a histogram', () => {
  it('returns percentiles within 3 % of the values', () => {
    const histogram = createHistogram();
    for (let ms = 1; ms <= 1_000; ms++) histogram.record(ms);
    for (const share of [0.1, 0.5, 0.9, 0.99, 0.999]) {
      const exact = share * 1_000;
      expect(histogram.percentile(share)).toBeGreaterThanOrEqual(exact);
      expect(histogram.percentile(share)).toBeLessThan(exact * 1.03);
    }
    expect(histogram.percentile(1)).toBe(1_000);
  });

  it('merged from parts is the histogram of all', () => {
    const [one, other, all] = [createHistogram(), createHistogram(), createHistogram()];
    for (const [part, ms] of [
      [one, 0.0001],
      [one, 4],
      [other, 4],
      [other, 70],
    ] as const) {
      part.record(ms);
      all.record(ms);
    }
    expect(createHistogram(one.counts(), other.counts()).counts()).toEqual(all.counts());
  });

  it('without values has no percentile', () => {
    expect(createHistogram().percentile(0.5)).toBeNaN();
  });
});
