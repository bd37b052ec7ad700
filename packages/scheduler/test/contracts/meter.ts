/** Contract of Meter: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { MetricName } from '../../src/domain/metrics.ts';
import type { Labels, Meter } from '../../src/ports/meter.ts';
import { type Closable, perTest, times } from './harness.ts';

/** The published value of one metric with one set of labels. */
export interface Reading {
  readonly labels: Labels;
  /** Of a histogram: how many observations. */
  readonly value: number;
  /** Of a histogram: the sum of the observations. */
  readonly sum?: number;
}

export interface MeterHarness extends Closable {
  readonly meter: Meter;
  /** The current values of a metric. */
  read(name: MetricName): Promise<readonly Reading[]>;
}

const PLAIN_COUNTER = 'scheduler_jobs_admitted_total';
const COUNTER = 'scheduler_jobs_refused_total';
const WIDE_COUNTER = 'scheduler_jobs_settled_total';
const GAUGE = 'scheduler_jobs_inflight';
const HISTOGRAM = 'scheduler_dispatch_latency_seconds';

const INVENTED = 2_000;

const total = (readings: readonly Reading[]): number => readings.reduce((sum, { value }) => sum + value, 0);

export function meterContract(name: string, open: () => Promise<MeterHarness>): void {
  describe(`Meter: ${name}`, () => {
    const start = perTest(open);

    it('adds counts, by one unless given', async () => {
      const { meter, read } = await start();
      meter.count(PLAIN_COUNTER);
      meter.count(PLAIN_COUNTER);
      meter.count(PLAIN_COUNTER, undefined, 5);
      expect(await read(PLAIN_COUNTER)).toEqual([{ labels: {}, value: 7 }]);
    });

    it('separates counts by each label', async () => {
      const { meter, read } = await start();
      meter.count(WIDE_COUNTER, { outcome: 'finished', code: '' });
      meter.count(WIDE_COUNTER, { outcome: 'failed', code: 'JOB_TIMEOUT' });
      meter.count(WIDE_COUNTER, { outcome: 'failed', code: 'PROCESSING_ERROR' }, 2);
      meter.count(WIDE_COUNTER, { code: 'JOB_TIMEOUT', outcome: 'failed' });
      const readings = await read(WIDE_COUNTER);
      expect(readings).toHaveLength(3);
      expect(readings).toEqual(
        expect.arrayContaining([
          { labels: { outcome: 'finished', code: '' }, value: 1 },
          { labels: { outcome: 'failed', code: 'JOB_TIMEOUT' }, value: 2 },
          { labels: { outcome: 'failed', code: 'PROCESSING_ERROR' }, value: 2 },
        ]),
      );
    });

    it('keeps counts unchanged when they are read', async () => {
      const { meter, read } = await start();
      meter.count(COUNTER, { code: 'RATE_LIMITED' });
      for (let reads = 0; reads < 3; reads += 1)
        expect(await read(COUNTER)).toEqual([{ labels: { code: 'RATE_LIMITED' }, value: 1 }]);
      meter.count(COUNTER, { code: 'RATE_LIMITED' });
      expect(await read(COUNTER)).toEqual([{ labels: { code: 'RATE_LIMITED' }, value: 2 }]);
    });

    it('shows the last value of a gauge', async () => {
      const { meter, read } = await start();
      for (const value of [3, 12, 0.5]) {
        meter.gauge(GAUGE, value);
        expect(await read(GAUGE)).toEqual([{ labels: {}, value }]);
      }
    });

    it('counts and sums observations', async () => {
      const { meter, read } = await start();
      for (const seconds of [0.25, 0.5, 60]) meter.observe(HISTOGRAM, seconds);
      expect(await read(HISTOGRAM)).toEqual([{ labels: {}, value: 3, sum: 60.75 }]);
      expect(await read(HISTOGRAM)).toEqual([{ labels: {}, value: 3, sum: 60.75 }]);
    });

    it('I11 bounded: counts invented label values under other', async () => {
      const { meter, read } = await start();
      meter.count(COUNTER, { code: 'RATE_LIMITED' });
      for (const code of times(INVENTED, (index) => `INVENTED_${index}`)) meter.count(COUNTER, { code });
      meter.count(COUNTER, { code: 'RATE_LIMITED' });
      const readings = await read(COUNTER);
      expect(readings.length).toBeLessThan(INVENTED / 2);
      expect(total(readings)).toBe(INVENTED + 2);
      expect(readings).toContainEqual({ labels: { code: 'RATE_LIMITED' }, value: 2 });
      const other = readings.find(({ labels }) => labels.code === 'other');
      expect(other?.value).toBe(INVENTED - (readings.length - 2));
    });

    it('I11 bounded: also with several labels', async () => {
      const { meter, read } = await start();
      for (const word of times(INVENTED, (index) => `invented-${index}`)) {
        meter.count(WIDE_COUNTER, { outcome: word, code: 'x' });
        meter.count(WIDE_COUNTER, { outcome: 'failed', code: word });
      }
      const readings = await read(WIDE_COUNTER);
      expect(readings.length).toBeLessThan(INVENTED / 2);
      expect(total(readings)).toBe(2 * INVENTED);
      expect(readings.some(({ labels }) => labels.outcome === 'other' && labels.code === 'other')).toBe(true);
    });

    it('bounds each metric separately', async () => {
      const { meter, read } = await start();
      for (const code of times(INVENTED, String)) meter.count(COUNTER, { code });
      meter.count(WIDE_COUNTER, { outcome: 'failed', code: 'JOB_TIMEOUT' });
      expect(await read(WIDE_COUNTER)).toEqual([
        { labels: { outcome: 'failed', code: 'JOB_TIMEOUT' }, value: 1 },
      ]);
    });

    it('accepts missing and unknown labels', async () => {
      const { meter, read } = await start();
      meter.count(PLAIN_COUNTER, { invented: 'x' });
      meter.gauge(GAUGE, 4, { invented: 'x' });
      meter.observe(HISTOGRAM, 1, { invented: 'x' });
      meter.count(COUNTER);
      meter.count(WIDE_COUNTER, { outcome: 'failed' });
      for (const one of [PLAIN_COUNTER, COUNTER, WIDE_COUNTER, HISTOGRAM] as const)
        expect(total(await read(one))).toBe(1);
      expect(total(await read(GAUGE))).toBe(4);
    });

    it('ignores a metric used as another kind', async () => {
      const { meter, read } = await start();
      meter.count(PLAIN_COUNTER);
      meter.gauge(PLAIN_COUNTER, 99);
      meter.observe(PLAIN_COUNTER, 99);
      expect(await read(PLAIN_COUNTER)).toEqual([{ labels: {}, value: 1 }]);
    });
  });
}
