/** What one entry of the metrics table says. */

export interface MetricEntry {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels?: readonly string[];
  /** Settings whose limit shows here: as a level below it, or as a count of what happened at it (I11). */
  readonly limits?: readonly string[];
  /** Of a histogram: upper bounds in seconds. Absent: USUAL_BUCKETS. */
  readonly buckets?: readonly number[];
}

/** What a request to a service or a person waits for. */
export const USUAL_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5] as const;

/** From what happens in memory, in microseconds, to what a node works on for a minute. */
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
