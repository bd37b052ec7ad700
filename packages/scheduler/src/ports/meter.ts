/** Port: measurements. Names come from the one metrics table; labels are bounded by the adapter. */
import type { MetricName } from '../domain/metrics.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Meter {
  count(name: MetricName, labels?: Labels, by?: number): void;
  gauge(name: MetricName, value: number, labels?: Labels): void;
  /** Seconds, unless the metric says otherwise. */
  observe(name: MetricName, value: number, labels?: Labels): void;
}
