/** Metrics of services beside the hot path: statistics, catalogue, marks. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const SERVICES_METRICS = {
  scheduler_stats_requests_total: { kind: 'counter', help: 'Requests for the statistics.' },
  scheduler_stats_stale_total: {
    kind: 'counter',
    help: 'Requests for the statistics that found none, or only old ones.',
  },
  scheduler_stats_stale_ratio: {
    kind: 'gauge',
    help: 'Part of the requests for the statistics that found none, or only old ones; 0 before the first.',
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
  scheduler_hub_down_dispatch_success_ratio: {
    kind: 'gauge',
    help: 'Part of the dispatch requests that were accepted while the ModelHub did not answer; 1 if there were none.',
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
  scheduler_model_na_by_reason_total: {
    kind: 'counter',
    help: 'MODEL_NOT_AVAILABLE reports by what the node gave as its reason, in few words.',
    labels: ['reason'],
  },
  scheduler_model_na_rate_limited_total: {
    kind: 'counter',
    help: 'MODEL_NOT_AVAILABLE reports beyond what one node may send.',
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
    help: 'Reports of a service and version that was dealt with a moment ago, here or on another instance.',
  },
  scheduler_model_na_dropped_total: {
    kind: 'counter',
    help: 'Reports that were not taken in, and the oldest marks of nodes with too many, by reason.',
    labels: ['reason'],
  },
  scheduler_model_na_probes_total: {
    kind: 'counter',
    help: 'Single jobs that tried whether a marked service is back, by result.',
    labels: ['result'],
  },
  scheduler_model_na_marks: {
    kind: 'gauge',
    help: 'Marks that this instance keeps of its nodes, those on probation included.',
  },
  scheduler_model_na_backlog: {
    kind: 'gauge',
    help: 'What is kept of reports: those in the queue, nodes whose reports are counted, versions dealt with lately.',
    labels: ['of'],
  },
  scheduler_model_na_last_candidate_total: {
    kind: 'counter',
    help: 'Jobs that nobody took although a node was free, because that node is marked.',
  },
} as const satisfies Record<string, MetricEntry>;
