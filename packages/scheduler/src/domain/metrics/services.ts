/** Metrics of statistics, catalogue and marks. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const SERVICES_METRICS = {
  scheduler_stats_requests_total: { kind: 'counter', help: 'Requests for the statistics.' },
  scheduler_stats_stale_total: {
    kind: 'counter',
    help: 'Requests for the statistics that found none or only stale ones.',
  },
  scheduler_stats_stale_ratio: {
    kind: 'gauge',
    help: 'Share of the requests for the statistics that found none or only stale ones; 0 before the first request.',
  },
  scheduler_stats_request_duration_seconds: {
    kind: 'histogram',
    help: 'Duration of requests for the statistics.',
  },
  scheduler_dashboard_snapshot_age_seconds: {
    kind: 'gauge',
    help: 'Age of the current statistics; 0 before the first.',
  },
  scheduler_stats_builds_total: {
    kind: 'counter',
    help: 'Times the statistics were counted, by trigger: interval, or a request that found none.',
    labels: ['trigger'],
  },
  scheduler_stats_build_seconds: {
    kind: 'histogram',
    help: 'Time to count the statistics, including pauses for more urgent work.',
  },
  scheduler_service_catalog_fail_count: {
    kind: 'gauge',
    help: 'Failed refreshes of the service catalogue since the last successful one.',
    limits: ['scheduler.service_catalog.backoff_max_seconds'],
  },
  scheduler_service_catalog_last_success_age_seconds: {
    kind: 'gauge',
    help: 'Time since the last successful answer of the hub; since the start if there was none.',
  },
  scheduler_service_catalog_refresh_total: {
    kind: 'counter',
    help: 'Refreshes of the service catalogue by result.',
    labels: ['result'],
  },
  scheduler_service_catalog_entries: { kind: 'gauge', help: 'Services in the catalogue; at most 2,000.' },
  scheduler_service_catalog_bad_entries_total: {
    kind: 'counter',
    help: 'Entries of the service catalogue that were ignored: malformed, repeated, or too many.',
  },
  scheduler_hub_up: {
    kind: 'gauge',
    help: '1 while the ModelHub answers, 0 while it does not; absent without one.',
  },
  scheduler_hub_down_dispatch_success_ratio: {
    kind: 'gauge',
    help: 'Share of the dispatch requests that were accepted while the ModelHub did not answer; 1 without requests.',
  },
  scheduler_hub_down_dispatch_total: {
    kind: 'counter',
    help: 'Dispatch requests while the ModelHub did not answer, by outcome: admitted or refused.',
    labels: ['outcome'],
  },
  scheduler_model_na_received_total: {
    kind: 'counter',
    help: 'MODEL_NOT_AVAILABLE reports of nodes.',
  },
  scheduler_model_na_by_service_total: {
    kind: 'counter',
    help: 'MODEL_NOT_AVAILABLE reports by service.',
    labels: ['service_id'],
  },
  scheduler_model_na_last_reaction_seconds: {
    kind: 'gauge',
    help: 'When this instance last marked the service unavailable on a node because of a report (Unix time), by service.',
    labels: ['service_id'],
  },
  scheduler_model_na_by_reason_total: {
    kind: 'counter',
    help: 'MODEL_NOT_AVAILABLE reports by the reason that the node gave, shortened.',
    labels: ['reason'],
  },
  scheduler_model_na_rate_limited_total: {
    kind: 'counter',
    help: 'MODEL_NOT_AVAILABLE reports beyond the limit of one node.',
    limits: ['scheduler.model_not_available.node_ratelimit_max'],
  },
  scheduler_model_na_rate_limited_by_node_total: {
    kind: 'counter',
    help: 'The same by node.',
    labels: ['node_id'],
  },
  scheduler_model_na_marked_total: {
    kind: 'counter',
    help: 'Services of nodes marked as not available, or marked again.',
  },
  scheduler_model_na_marked_by_node_total: {
    kind: 'counter',
    help: 'The same by node.',
    labels: ['node_id'],
  },
  scheduler_model_na_debounced_total: {
    kind: 'counter',
    help: 'Repeated reports of a service and version within the debounce time, on this or another instance.',
  },
  scheduler_model_na_dropped_total: {
    kind: 'counter',
    help: 'Reports that were dropped, and oldest marks of nodes with too many marks, by reason.',
    labels: ['reason'],
  },
  scheduler_model_na_probes_total: {
    kind: 'counter',
    help: 'Single jobs that tested whether a marked service is available again, by result.',
    labels: ['result'],
  },
  scheduler_model_na_marks: {
    kind: 'gauge',
    help: 'Marks that this instance keeps for its nodes, including those on probation.',
  },
  scheduler_model_na_backlog: {
    kind: 'gauge',
    help: 'Entries kept for reports: queued reports, nodes whose reports are counted, versions within the debounce time.',
    labels: ['of'],
  },
  scheduler_model_na_last_candidate_total: {
    kind: 'counter',
    help: 'Jobs without a node although one was free, because a service of that node is marked.',
  },
} as const satisfies Record<string, MetricEntry>;
