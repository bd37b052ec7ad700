/** The one metrics table: every name, its kind, labels and meaning. Printed to docs/metrics.md. */

export interface MetricEntry {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels?: readonly string[];
  /** Settings whose limit shows here: as a level below it, or as a count of what happened at it (I11). */
  readonly limits?: readonly string[];
}

export const METRICS = {
  scheduler_jobs_admitted_total: { kind: 'counter', help: 'Jobs accepted for dispatch.' },
  scheduler_jobs_refused_total: {
    kind: 'counter',
    help: 'Dispatch requests refused, by error code.',
    labels: ['code'],
    limits: ['scheduler.audio.max_bytes_per_job'],
  },
  scheduler_jobs_settled_total: {
    kind: 'counter',
    help: 'Jobs that reached their outcome, by outcome and error code.',
    labels: ['outcome', 'code'],
  },
  scheduler_jobs_inflight: {
    kind: 'gauge',
    help: 'Jobs accepted and not yet settled.',
    limits: ['scheduler.max_inflight_jobs'],
  },
  scheduler_jobs_waiting: {
    kind: 'gauge',
    help: 'Jobs waiting for a slot.',
    limits: ['scheduler.queue.max_waiting'],
  },
  scheduler_jobs_retained: {
    kind: 'gauge',
    help: 'Settled jobs that can still be read.',
    limits: ['scheduler.job_retention_max_count'],
  },
  scheduler_jobs_retained_bytes: {
    kind: 'gauge',
    help: 'Memory of settled jobs that can still be read.',
    limits: ['scheduler.job_retention_max_bytes'],
  },
  scheduler_request_bindings: {
    kind: 'gauge',
    help: 'Requests bound to their job, so that a repeat finds it.',
    limits: ['scheduler.task_binding.max_bindings'],
  },
  scheduler_job_listeners: { kind: 'gauge', help: 'Callers that wait for a job or follow one.' },
  scheduler_http_waits: { kind: 'gauge', help: 'Answers held back: long polls and event streams.' },
  scheduler_mailbox_jobs: {
    kind: 'gauge',
    help: 'Jobs that nodes have to fetch: of all nodes, and of the one with the most.',
    labels: ['of'],
    limits: ['scheduler.mailbox.max_jobs'],
  },
  scheduler_no_available_node_total: {
    kind: 'counter',
    help: 'Selections that found nobody, by selector and main reason.',
    labels: ['selector', 'reason'],
  },
  scheduler_reserve_attempt_total: {
    kind: 'counter',
    help: 'Reserve calls by result.',
    labels: ['result'],
    limits: ['scheduler.max_concurrent_jobs_per_node'],
  },
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
    limits: ['scheduler.max_retry'],
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
  scheduler_nodes: {
    kind: 'gauge',
    help: 'Registered nodes by health.',
    labels: ['health'],
    limits: ['scheduler.max_nodes'],
  },
  scheduler_node_transitions_total: {
    kind: 'counter',
    help: 'Changes of node health, by new health.',
    labels: ['health'],
  },
  scheduler_node_ejections_total: {
    kind: 'counter',
    help: 'Nodes thrown out for failing too often.',
    limits: ['scheduler.ejection.max_ejected_percent'],
  },
  scheduler_node_registrations_total: {
    kind: 'counter',
    help: 'Registrations by result.',
    labels: ['result'],
  },
  scheduler_node_errors_total: { kind: 'counter', help: 'node_error messages by code.', labels: ['code'] },
  scheduler_heartbeats_total: { kind: 'counter', help: 'Heartbeats received.' },
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
  scheduler_sessions: {
    kind: 'gauge',
    help: 'Sessions by state: connected, or waited for.',
    labels: ['state'],
    limits: ['session.max_sessions'],
  },
  scheduler_sessions_opened_total: {
    kind: 'counter',
    help: 'Sessions opened: new or resumed.',
    labels: ['kind'],
  },
  scheduler_sessions_ended_total: { kind: 'counter', help: 'Sessions ended, by reason.', labels: ['reason'] },
  scheduler_session_messages_dropped_total: {
    kind: 'counter',
    help: 'Messages of sessions that changed nothing, by reason.',
    labels: ['reason'],
    limits: ['scheduler.audio.max_bytes_per_session'],
  },
  scheduler_utterances_sealed_total: {
    kind: 'counter',
    help: 'Utterances cut out of a stream of chunks, by what ended them.',
    labels: ['reason'],
    limits: ['scheduler.web_task_segmentation.max_duration_ms', 'scheduler.web_task_segmentation.max_bytes'],
  },
  scheduler_utterance_outcomes_total: {
    kind: 'counter',
    help: 'Outcomes of utterances: result, or why it is missing.',
    labels: ['outcome'],
    limits: ['session.max_pending_results'],
  },
  scheduler_utterance_seconds: {
    kind: 'histogram',
    help: 'From the acceptance of an utterance to its outcome.',
  },
  scheduler_utterances_running: { kind: 'gauge', help: 'Utterances of sessions whose job has no outcome.' },
  scheduler_session_results_redelivered_total: {
    kind: 'counter',
    help: 'Results told again to a client that came back.',
  },
  scheduler_session_results_forgotten_total: {
    kind: 'counter',
    help: 'Results no longer kept for a client because it has too many unacknowledged.',
    limits: ['session.max_kept_results', 'session.max_result_bytes'],
  },
  scheduler_session_result_bytes: {
    kind: 'gauge',
    help: 'Results that wait for an earlier one or are kept for a client, of all sessions.',
    limits: ['session.max_result_bytes_total'],
  },
  scheduler_backpressure_total: {
    kind: 'counter',
    help: 'Times a session was told to send less, by how.',
    labels: ['action'],
    limits: ['session.max_utterances'],
  },
  scheduler_audio_store_bytes: {
    kind: 'gauge',
    help: 'Input audio on this instance: held for jobs and being collected by sessions.',
    limits: ['scheduler.audio.max_bytes_total'],
  },
  scheduler_inbox_failures_total: {
    kind: 'counter',
    help: 'Letters from other instances that could not be handled and come again.',
  },
  scheduler_inbox_reader_restarts_total: {
    kind: 'counter',
    help: 'Times the reader of the inbox was stuck and was replaced.',
  },
  scheduler_dead_letters_total: {
    kind: 'counter',
    help: 'Letters that were put aside after too many deliveries.',
    limits: ['scheduler.phase2.dlq_max_deliveries', 'scheduler.phase2.dlq_maxlen'],
  },
  scheduler_letters_handling: {
    kind: 'gauge',
    help: 'Letters of other instances that were read and are not done yet; at 1,024 reading pauses.',
  },
  scheduler_letters_refused_total: {
    kind: 'counter',
    help: 'Letters that were not sent because their receiver is gone or its inbox is full.',
    labels: ['reason'],
    limits: ['scheduler.phase2.stream_maxlen'],
  },
  scheduler_result_audio_dropped_total: {
    kind: 'counter',
    help: 'Results whose speech was too long to pass through the store; their text was delivered.',
    limits: ['scheduler.result_inline_max_bytes'],
  },
  scheduler_adoptions_total: {
    kind: 'counter',
    help: 'Dead instances whose jobs and letters this one took over.',
  },
  scheduler_answers_held: {
    kind: 'gauge',
    help: 'What nodes said of their jobs and could not be brought to the driver yet.',
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
  scheduler_store_reasserted_total: {
    kind: 'counter',
    help: 'What was told again to a store that may have lost it, by what.',
    labels: ['what'],
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
