/** Metrics of instances that share a store, and of that store. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const CLUSTER_METRICS = {
  scheduler_inbox_failures_total: {
    kind: 'counter',
    help: 'Messages from other instances whose handling failed; they are delivered again.',
  },
  scheduler_inbox_reader_restarts_total: {
    kind: 'counter',
    help: 'Times the reader of the inbox was stuck and its connection was replaced.',
  },
  scheduler_phase2_inbox_pending: {
    kind: 'gauge',
    help: 'Messages to this instance that were delivered and are not acknowledged. Read from the store with every scan for stuck messages.',
  },
  scheduler_phase2_reclaimed_total: {
    kind: 'counter',
    help: 'Messages that were delivered again because they were not acknowledged, including those of dead instances.',
  },
  scheduler_phase2_redis_op_total: {
    kind: 'counter',
    help: 'Redis commands by name (scripts by the name of the script) and result: ok or err. A redirect, and a script that the server does not have yet, count as ok.',
    labels: ['op', 'result'],
  },
  scheduler_phase2_dlq_moved_total: {
    kind: 'counter',
    help: 'Messages that were moved to the dead-letter queue after too many deliveries.',
    limits: ['scheduler.cluster.dlq_max_deliveries', 'scheduler.cluster.dlq_maxlen'],
  },
  scheduler_cluster_messages_in_progress: {
    kind: 'gauge',
    help: 'Messages from other instances that were read and are still being handled; at 1,024 reading pauses.',
  },
  scheduler_cluster_messages_refused_total: {
    kind: 'counter',
    help: 'Messages that were not sent because the receiving instance is dead or its inbox is full.',
    labels: ['reason'],
    limits: ['scheduler.cluster.stream_maxlen'],
  },
  scheduler_result_audio_dropped_total: {
    kind: 'counter',
    help: 'Results whose speech was too long for the store; only their text was delivered.',
    limits: ['scheduler.result_inline_max_bytes'],
  },
  scheduler_takeovers_total: {
    kind: 'counter',
    help: 'Dead instances whose jobs and messages this instance took over.',
  },
  scheduler_pending_node_reports: {
    kind: 'gauge',
    help: 'Reports of nodes that could not be sent to the driver of the job yet.',
  },
  scheduler_instance_backlog: {
    kind: 'gauge',
    help: 'What this instance stores about jobs it shares with others: takeovers without an answer and audio_offers not received yet (at most 10,000 each), and drivers of jobs on its nodes (at most 50,000; the oldest are dropped).',
    labels: ['of'],
  },
  scheduler_node_reports_dropped_total: {
    kind: 'counter',
    help: 'Reports of nodes that were dropped because no driver could be reached, by reason.',
    labels: ['reason'],
  },
  scheduler_replica_nodes: {
    kind: 'gauge',
    help: 'Nodes that this instance knows: own, of others, and of others but refused at a limit.',
    labels: ['of'],
  },
  scheduler_instance_fenced: {
    kind: 'gauge',
    help: '1 while this instance may have been declared dead and therefore writes nothing.',
  },
  scheduler_store_unfit_servers: {
    kind: 'gauge',
    help: 'Servers of the store, including replicas, that failed the last check: they may evict keys or reject writes, and no instance would start on them.',
  },
  scheduler_failover_replays_total: {
    kind: 'counter',
    help: 'Entries that were written again after a failover of the store, by kind.',
    labels: ['what'],
  },
} as const satisfies Record<string, MetricEntry>;
