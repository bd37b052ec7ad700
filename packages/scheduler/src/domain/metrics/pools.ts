/** Metrics of capability pools. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const POOLS_METRICS = {} as const satisfies Record<string, MetricEntry>;
