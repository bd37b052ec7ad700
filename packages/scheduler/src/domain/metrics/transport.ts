/** Metrics of connections, messages and the process. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const TRANSPORT_METRICS = {
  scheduler_http_waits: {
    kind: 'gauge',
    help: 'Requests that wait, by kind: caller (for a result), stream (events of a job, or the live feed), poll (a node, for jobs).',
    labels: ['kind'],
  },
  scheduler_http_waits_refused_total: {
    kind: 'counter',
    help: 'Requests that may not wait, by kind and by the limit that was reached.',
    labels: ['kind', 'limit'],
  },
  scheduler_live_events_skipped_total: {
    kind: 'counter',
    help: 'Events of the live feed that a viewer did not get because it had not read the one before.',
  },
  scheduler_connections: {
    kind: 'gauge',
    help: 'Open sockets by kind.',
    labels: ['kind'],
    limits: ['server.limits.max_connections'],
  },
  scheduler_http_connections: {
    kind: 'gauge',
    help: 'Open connections that are not sockets, by state: busy (a request is in progress), idle.',
    labels: ['state'],
    limits: ['server.limits.max_idle_connections'],
  },
  scheduler_connections_refused_total: {
    kind: 'counter',
    help: 'Sockets refused at the upgrade and HTTP connections closed by a limit, by reason; among them idle_address and idle_total (the oldest idle connection), busy, pipelined, too_slow (headers or body), tls (handshake).',
    labels: ['reason'],
    limits: [
      'server.limits.max_connections_per_tenant',
      'server.limits.max_connections_per_address',
      'server.limits.max_idle_connections_per_address',
    ],
  },
  scheduler_connections_cut_total: {
    kind: 'counter',
    help: 'Sockets closed by the scheduler, by reason.',
    labels: ['reason'],
    limits: [
      'server.limits.max_message_bytes',
      'server.limits.max_node_message_bytes',
      'server.limits.max_invalid_messages',
      'server.limits.max_buffered_bytes',
    ],
  },
  scheduler_invalid_messages_total: {
    kind: 'counter',
    help: 'Messages that failed validation, by edge.',
    labels: ['edge'],
  },
  scheduler_rate_limited_total: {
    kind: 'counter',
    help: 'Messages and requests refused by a limit, by limit.',
    labels: ['limit'],
  },
  scheduler_credentials_refused_total: {
    kind: 'counter',
    help: 'Requests and sockets refused for their credential, by reason: missing, unknown, expired, role (the token lacks the role), throttled (too many unknown tokens from that address).',
    labels: ['reason'],
    limits: ['server.limits.max_unknown_tokens_per_minute'],
  },
  scheduler_audit_lost_total: {
    kind: 'counter',
    help: 'Events that are missing in the audit log, because its buffer was full or its file not open.',
  },
  scheduler_audit_write_failures_total: {
    kind: 'counter',
    help: 'Failed writes of the audit log; each is tried again with the next event.',
  },
  scheduler_trace_spans_exported_total: {
    kind: 'counter',
    help: 'Spans that the trace collector accepted.',
  },
  scheduler_trace_spans_dropped_total: {
    kind: 'counter',
    help: 'Spans that were not sent: queue_full, not_sent (the collector did not accept them in time), stopping.',
    labels: ['reason'],
  },
  scheduler_limit: {
    kind: 'gauge',
    help: 'Configured limit of each metric that has one, by setting.',
    labels: ['setting'],
  },
  scheduler_event_loop_delay_seconds: {
    kind: 'gauge',
    help: 'Event loop delay, 99th percentile of the last interval.',
  },
  scheduler_slow_lock_wait_total: {
    kind: 'counter',
    help: 'Waits of at least `scheduler.observability.lock_wait_warn_ms`, by lock: session_mailbox, request_single_flight (a repeated request waits for the first), socket_order (a message waits for the previous one), event_loop.',
    labels: ['lock'],
  },
  scheduler_slow_path_total: {
    kind: 'counter',
    help: 'Times a path took at least `scheduler.observability.path_warn_ms`: dispatch (only jobs that did not wait for a slot), node_registration, heartbeat, result, session_init.',
    labels: ['path'],
  },
} as const satisfies Record<string, MetricEntry>;
