/** What one entry of the metrics table says. */

export interface MetricEntry {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels?: readonly string[];
  /** Settings whose limit shows here: as a level below it, or as a count of what happened at it (I11). */
  readonly limits?: readonly string[];
}
