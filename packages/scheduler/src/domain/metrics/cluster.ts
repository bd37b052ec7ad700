/** Metrics of instances that work together and the store they share. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const CLUSTER_METRICS = {
  scheduler_inbox_failures_total: {
    kind: 'counter',
    help: 'Messages from other instances that could not be handled and come again.',
  },
  scheduler_inbox_reader_restarts_total: {
    kind: 'counter',
    help: 'Times the reader of the inbox was stuck and was replaced.',
  },
  scheduler_phase2_inbox_pending: {
    kind: 'gauge',
    help: 'Messages to this instance that were handed out and are not confirmed, as the store last said; looked up with every scan for stuck ones.',
  },
  scheduler_phase2_reclaimed_total: {
    kind: 'counter',
    help: 'Messages that were handed out again because they were not confirmed, those of dead instances included.',
  },
  scheduler_phase2_redis_op_total: {
    kind: 'counter',
    help: 'Commands to Redis by name, scripts by the name of the script, and result: ok or err. What a server only redirects, or has to be told the script for, is ok.',
    labels: ['op', 'result'],
  },
  scheduler_phase2_dlq_moved_total: {
    kind: 'counter',
    help: 'Messages that were put aside, to the dead-letter queue, after too many deliveries.',
    limits: ['scheduler.phase2.dlq_max_deliveries', 'scheduler.phase2.dlq_maxlen'],
  },
  scheduler_letters_handling: {
    kind: 'gauge',
    help: 'Messages of other instances that were read and are not done yet; at 1,024 reading pauses.',
  },
  scheduler_letters_refused_total: {
    kind: 'counter',
    help: 'Messages that were not sent because their receiver is gone or its inbox is full.',
    labels: ['reason'],
    limits: ['scheduler.phase2.stream_maxlen'],
  },
  scheduler_direct_questions_total: {
    kind: 'counter',
    help: 'Questions for another instance that may be asked of it over HTTP (server.advertise_url): answered; or asked by message because it was busy, unreached, unclear whether it heard, or not_tried (it was unreached in the last 30 s, is of an earlier version, or too many are under way).',
    labels: ['outcome'],
  },
  scheduler_result_audio_dropped_total: {
    kind: 'counter',
    help: 'Results whose speech was too long to pass through the store; their text was delivered.',
    limits: ['scheduler.result_inline_max_bytes'],
  },
  scheduler_adoptions_total: {
    kind: 'counter',
    help: 'Dead instances whose jobs and messages this one took over.',
  },
  scheduler_answers_held: {
    kind: 'gauge',
    help: 'What nodes said of their jobs and could not be brought to the driver yet.',
  },
  scheduler_instance_backlog: {
    kind: 'gauge',
    help: 'What this instance remembers of jobs it shares with others: takeovers nobody has answered for and audio_offers nobody has heard (10,000 each, then no more), drivers of jobs on its nodes, slots it keeps for them, and guests, attempts of theirs that it counts (50,000 each, the oldest go), lasting_slots, those it took on nodes of others that are not known to last (until their reservation ends), direct_asks that others have not answered (256, then messages).',
    labels: ['of'],
  },
  scheduler_answers_dropped_total: {
    kind: 'counter',
    help: 'What nodes said of their jobs and could not be brought to the driver at all, by reason.',
    labels: ['reason'],
  },
  scheduler_replica_nodes: {
    kind: 'gauge',
    help: 'Nodes this instance knows: its own, those of others, and those refused at the limit.',
    labels: ['of'],
  },
  scheduler_instance_fenced: {
    kind: 'gauge',
    help: '1 while this instance may have been taken for dead and therefore writes nothing.',
  },
  scheduler_store_unfit_servers: {
    kind: 'gauge',
    help: 'Servers of the store, replicas included, on which no instance would start, as last looked at: they may drop keys, or take no writes.',
  },
  scheduler_store_reasserted_total: {
    kind: 'counter',
    help: 'What was told again to a store that may have lost it, by what.',
    labels: ['what'],
  },
} as const satisfies Record<string, MetricEntry>;
