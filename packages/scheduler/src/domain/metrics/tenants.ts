/** Metrics of tenants and fairness. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const TENANTS_METRICS = {} as const satisfies Record<string, MetricEntry>;
