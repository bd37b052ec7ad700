/** Metrics of webhooks. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const WEBHOOKS_METRICS = {
  scheduler_webhooks_waiting: {
    kind: 'gauge',
    help: 'Events that no receiver has accepted yet, of all receivers; each may have `webhooks.max_waiting`.',
  },
  scheduler_webhooks_delivered_total: {
    kind: 'counter',
    help: 'Events that a receiver accepted, by type: job_ended, room_ended, node_lost, quota_reached.',
    labels: ['type'],
  },
  scheduler_webhooks_retried_total: {
    kind: 'counter',
    help: 'Tries that a receiver did not accept, by type of the event.',
    labels: ['type'],
  },
  scheduler_webhooks_dropped_total: {
    kind: 'counter',
    help: 'Events that were given up, by type and reason: full (too many of the receiver waited), expired (not accepted for `webhooks.retry_for_ms`), erased, removed (the receiver is not configured any more), stopping.',
    labels: ['type', 'reason'],
    limits: ['webhooks.max_waiting'],
  },
} as const satisfies Record<string, MetricEntry>;
