/** The one metrics table: every name, its kind, labels and meaning, by area. Printed to docs/metrics.md. */
import { CLUSTER_METRICS } from './metrics/cluster.ts';
import { DISPATCH_METRICS } from './metrics/dispatch.ts';
import type { MetricEntry } from './metrics/metric-entry.ts';
import { NODES_METRICS } from './metrics/nodes.ts';
import { POOLS_METRICS } from './metrics/pools.ts';
import { ROOMS_METRICS } from './metrics/rooms.ts';
import { SERVICES_METRICS } from './metrics/services.ts';
import { SESSIONS_METRICS } from './metrics/sessions.ts';
import { TENANTS_METRICS } from './metrics/tenants.ts';
import { TRANSPORT_METRICS } from './metrics/transport.ts';
import { WEBHOOKS_METRICS } from './metrics/webhooks.ts';

export type { MetricEntry } from './metrics/metric-entry.ts';

export const METRICS = {
  ...DISPATCH_METRICS,
  ...NODES_METRICS,
  ...TRANSPORT_METRICS,
  ...SESSIONS_METRICS,
  ...ROOMS_METRICS,
  ...CLUSTER_METRICS,
  ...SERVICES_METRICS,
  ...POOLS_METRICS,
  ...TENANTS_METRICS,
  ...WEBHOOKS_METRICS,
} as const satisfies Record<string, MetricEntry>;

export type MetricName = keyof typeof METRICS;
