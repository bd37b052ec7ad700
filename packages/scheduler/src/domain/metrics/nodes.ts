/** Metrics of nodes, their health and their mailboxes. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const NODES_METRICS = {
  scheduler_mailbox_jobs: {
    kind: 'gauge',
    help: 'Jobs in mailboxes that nodes have to fetch: of all nodes, and of the node with the most.',
    labels: ['of'],
    limits: ['scheduler.mailbox.max_jobs'],
  },
  scheduler_oversell_detected_total: {
    kind: 'counter',
    help: 'Heartbeats that reported more running jobs than the node has slots.',
  },
  scheduler_nodes: {
    kind: 'gauge',
    help: 'Registered nodes by health.',
    labels: ['health'],
    limits: ['scheduler.max_nodes'],
  },
  scheduler_declared_bytes: {
    kind: 'gauge',
    help: 'Memory that the declarations of all known nodes need, estimated, and its limit.',
    labels: ['of'],
    limits: ['scheduler.declarations.max_bytes'],
  },
  scheduler_declarations_refused_total: {
    kind: 'counter',
    help: 'Declarations of nodes that were refused, by the limit: of the node, of its credential (bytes or nodes), or of the fleet.',
    labels: ['limit'],
    limits: ['scheduler.declarations.max_node_bytes', 'scheduler.declarations.max_credential_percent'],
  },
  scheduler_node_transitions_total: {
    kind: 'counter',
    help: 'Changes of node health, by new health.',
    labels: ['health'],
  },
  scheduler_node_ejections_total: {
    kind: 'counter',
    help: 'Nodes ejected because they failed too often.',
    limits: ['scheduler.ejection.max_ejected_percent'],
  },
  scheduler_node_registrations_total: {
    kind: 'counter',
    help: 'Registrations by result.',
    labels: ['result'],
  },
  scheduler_node_errors_total: { kind: 'counter', help: 'node_error messages by code.', labels: ['code'] },
  scheduler_heartbeats_total: { kind: 'counter', help: 'Heartbeats received.' },
} as const satisfies Record<string, MetricEntry>;
