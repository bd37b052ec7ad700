/** Port: measurements. Names come from the one metrics table; labels are bounded by the adapter; what is read is what is printed. */
import type { MetricName } from '../domain/metrics.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Meter {
  count(name: MetricName, labels?: Labels, by?: number): void;
  gauge(name: MetricName, value: number, labels?: Labels): void;
  /** Seconds, unless the metric says otherwise. Nothing is kept of `labels`: the same object may be given each time. */
  observe(name: MetricName, value: number, labels?: Labels): void;
}

/** One metric with one set of labels, as of now. */
export interface SeriesReading {
  readonly labels: Labels;
  /** Of a histogram: how many observations. */
  readonly value: number;
}

export interface DistributionReading {
  readonly labels: Labels;
  readonly count: number;
  readonly sum: number;
  /** Upper bounds, ascending; the last bucket has none. */
  readonly bounds: readonly number[];
  /** Observations per bucket, not added up: one more than there are bounds. */
  readonly buckets: readonly number[];
}

/** The very series that are printed: whoever reads both at one moment reads the same. */
export interface MeterReader {
  series(name: MetricName): readonly SeriesReading[];
  /** Nothing, unless the metric is a histogram. */
  distributions(name: MetricName): readonly DistributionReading[];
}
