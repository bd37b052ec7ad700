/** Metrics of connections, messages at the edges and the process itself. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const EDGES_METRICS = {
  scheduler_http_waits: { kind: 'gauge', help: 'Answers held back: long polls and event streams.' },
  scheduler_connections: {
    kind: 'gauge',
    help: 'Open sockets by kind.',
    labels: ['kind'],
    limits: ['server.limits.max_connections'],
  },
  scheduler_connections_refused_total: {
    kind: 'counter',
    help: 'Sockets refused at the upgrade, by reason.',
    labels: ['reason'],
    limits: ['server.limits.max_connections_per_tenant', 'server.limits.max_connections_per_address'],
  },
  scheduler_connections_cut_total: {
    kind: 'counter',
    help: 'Sockets the scheduler closed, by reason.',
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
    help: 'Messages that did not pass validation, by edge.',
    labels: ['edge'],
  },
  scheduler_rate_limited_total: {
    kind: 'counter',
    help: 'Messages and requests refused by a limit, by limit.',
    labels: ['limit'],
    limits: ['scheduler.queue.max_waiting_per_tenant'],
  },
  scheduler_event_loop_delay_seconds: {
    kind: 'gauge',
    help: 'Event loop delay, 99th percentile of the last interval.',
  },
} as const satisfies Record<string, MetricEntry>;
