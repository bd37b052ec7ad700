/** The one metrics table: every name, its kind, labels and meaning. Printed to docs/metrics.md. */

export interface MetricEntry {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels?: readonly string[];
}

export const METRICS = {
  scheduler_jobs_admitted_total: { kind: 'counter', help: 'Jobs accepted for dispatch.' },
  scheduler_jobs_refused_total: {
    kind: 'counter',
    help: 'Dispatch requests refused, by error code.',
    labels: ['code'],
  },
  scheduler_jobs_settled_total: {
    kind: 'counter',
    help: 'Jobs that reached their outcome, by outcome and error code.',
    labels: ['outcome', 'code'],
  },
  scheduler_jobs_inflight: { kind: 'gauge', help: 'Jobs accepted and not yet settled.' },
  scheduler_jobs_waiting: { kind: 'gauge', help: 'Jobs waiting for a slot.' },
  scheduler_no_available_node_total: {
    kind: 'counter',
    help: 'Selections that found nobody, by selector and main reason.',
    labels: ['selector', 'reason'],
  },
  scheduler_reserve_attempt_total: { kind: 'counter', help: 'Reserve calls by result.', labels: ['result'] },
  scheduler_dispatch_latency_seconds: {
    kind: 'histogram',
    help: 'From admission to the job leaving for its node.',
  },
  scheduler_ack_timeout_total: { kind: 'counter', help: 'Attempts whose node did not acknowledge in time.' },
  scheduler_node_overload_reject_total: {
    kind: 'counter',
    help: 'Jobs a node refused for lack of room, by reason.',
    labels: ['reason'],
  },
  scheduler_retries_total: {
    kind: 'counter',
    help: 'Attempts after the first, by why the one before ended.',
    labels: ['reason'],
  },
  scheduler_retry_budget_exhausted_total: {
    kind: 'counter',
    help: 'Retries not made because the retry budget was used up.',
  },
  scheduler_fenced_total: {
    kind: 'counter',
    help: 'Answers that changed nothing because their attempt was no longer current, by kind.',
    labels: ['kind'],
  },
  scheduler_oversell_detected_total: {
    kind: 'counter',
    help: 'Heartbeats that reported more running jobs than the node has slots.',
  },
  scheduler_leases_lost_total: {
    kind: 'counter',
    help: 'Acknowledgements whose lease had expired and whose slot was gone.',
  },
  scheduler_nodes: { kind: 'gauge', help: 'Registered nodes by health.', labels: ['health'] },
  scheduler_node_transitions_total: {
    kind: 'counter',
    help: 'Changes of node health, by new health.',
    labels: ['health'],
  },
  scheduler_node_ejections_total: { kind: 'counter', help: 'Nodes thrown out for failing too often.' },
  scheduler_node_registrations_total: {
    kind: 'counter',
    help: 'Registrations by result.',
    labels: ['result'],
  },
  scheduler_node_errors_total: { kind: 'counter', help: 'node_error messages by code.', labels: ['code'] },
  scheduler_heartbeats_total: { kind: 'counter', help: 'Heartbeats received.' },
  scheduler_connections: { kind: 'gauge', help: 'Open sockets by kind.', labels: ['kind'] },
  scheduler_connections_refused_total: {
    kind: 'counter',
    help: 'Sockets refused at the upgrade, by reason.',
    labels: ['reason'],
  },
  scheduler_connections_cut_total: {
    kind: 'counter',
    help: 'Sockets the scheduler closed, by reason.',
    labels: ['reason'],
  },
  scheduler_invalid_messages_total: {
    kind: 'counter',
    help: 'Messages that did not pass validation, by edge.',
    labels: ['edge'],
  },
  scheduler_rate_limited_total: {
    kind: 'counter',
    help: 'Messages and requests refused by a limit, by limit.',
    labels: ['limit'],
  },
  scheduler_audio_store_bytes: {
    kind: 'gauge',
    help: 'Input audio on this instance: held for jobs and being collected by sessions.',
  },
  scheduler_dependency_down_total: {
    kind: 'counter',
    help: 'Requests refused because the store could not be asked.',
  },
  scheduler_event_loop_delay_seconds: {
    kind: 'gauge',
    help: 'Event loop delay, 99th percentile of the last interval.',
  },
} as const satisfies Record<string, MetricEntry>;

export type MetricName = keyof typeof METRICS;
