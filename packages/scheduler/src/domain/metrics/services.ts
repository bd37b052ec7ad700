/** Metrics of services beside the hot path: statistics, catalogue, marks. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const SERVICES_METRICS = {} as const satisfies Record<string, MetricEntry>;
