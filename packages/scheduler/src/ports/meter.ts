/** Port: measurements. Names come from the one metrics table; the adapter bounds the labels; a reader sees the printed values. */
import type { MetricName } from '../domain/metrics.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Meter {
  count(name: MetricName, labels?: Labels, by?: number): void;
  gauge(name: MetricName, value: number, labels?: Labels): void;
  /** Seconds, unless the metric has another unit. `labels` is not kept: the caller may reuse the object. */
  observe(name: MetricName, value: number, labels?: Labels): void;
}

/** The current value of one metric with one set of labels. */
export interface SeriesReading {
  readonly labels: Labels;
  /** Of a histogram: the number of observations. */
  readonly value: number;
}

export interface DistributionReading {
  readonly labels: Labels;
  readonly count: number;
  readonly sum: number;
  /** Upper bounds, ascending; the last bucket has none. */
  readonly bounds: readonly number[];
  /** Observations per bucket, not cumulative: one more than there are bounds. */
  readonly buckets: readonly number[];
}

/** The printed series: a read and a print without a change in between have equal values. */
export interface MeterReader {
  series(name: MetricName): readonly SeriesReading[];
  /** Empty unless the metric is a histogram. */
  distributions(name: MetricName): readonly DistributionReading[];
}
