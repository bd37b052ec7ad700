/** One entry of the metrics table. */

export interface MetricEntry {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels?: readonly string[];
  /** Settings whose limit this metric shows: as a gauge below the limit, or as a count of events at the limit (I11). */
  readonly limits?: readonly string[];
  /** Upper bounds of a histogram, in seconds. Absent: USUAL_BUCKETS. */
  readonly buckets?: readonly number[];
}

/** For durations of requests. */
export const USUAL_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5] as const;

/** From microseconds (work in memory) to a minute (work of a node). */
export const STAGE_BUCKETS = [
  0.00001,
  0.00002,
  0.00005,
  0.0001,
  0.0002,
  0.0005,
  ...USUAL_BUCKETS,
  10,
  30,
  60,
] as const;
