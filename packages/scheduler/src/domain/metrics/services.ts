/** Metrics of services beside the hot path: statistics, catalogue, marks. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const SERVICES_METRICS = {
  scheduler_stats_requests_total: { kind: 'counter', help: 'Requests for the statistics.' },
  scheduler_stats_stale_total: {
    kind: 'counter',
    help: 'Requests for the statistics that found none, or only old ones.',
  },
  scheduler_stats_request_duration_seconds: {
    kind: 'histogram',
    help: 'Time in which requests for the statistics were answered.',
  },
  scheduler_dashboard_snapshot_age_seconds: {
    kind: 'gauge',
    help: 'Age of the statistics that are shown; 0 before the first.',
  },
  scheduler_stats_builds_total: {
    kind: 'counter',
    help: 'Times the statistics were counted, by what began it: interval, or a request that found none.',
    labels: ['trigger'],
  },
  scheduler_stats_build_seconds: {
    kind: 'histogram',
    help: 'Time in which the statistics were counted, pauses for more urgent work included.',
  },
  scheduler_service_catalog_fail_count: {
    kind: 'gauge',
    help: 'Refreshes of the service catalogue that failed since the last that did not.',
    limits: ['scheduler.service_catalog.backoff_max_seconds'],
  },
  scheduler_service_catalog_last_success_age_seconds: {
    kind: 'gauge',
    help: 'Time since the hub last gave its services; since the start if it never did.',
  },
  scheduler_service_catalog_refresh_total: {
    kind: 'counter',
    help: 'Refreshes of the service catalogue by result.',
    labels: ['result'],
  },
  scheduler_service_catalog_entries: { kind: 'gauge', help: 'Services in the catalogue; at most 2,000.' },
  scheduler_service_catalog_bad_entries_total: {
    kind: 'counter',
    help: 'Entries of the service catalogue that were passed over: malformed, repeated, or too many.',
  },
  scheduler_hub_up: {
    kind: 'gauge',
    help: '1 while the ModelHub answers, 0 while it does not; absent without one.',
  },
  scheduler_hub_down_dispatch_total: {
    kind: 'counter',
    help: 'Dispatch requests while the ModelHub did not answer, by outcome: admitted or refused.',
    labels: ['outcome'],
  },
} as const satisfies Record<string, MetricEntry>;
