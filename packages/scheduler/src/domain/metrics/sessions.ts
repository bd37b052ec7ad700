/** Metrics of sessions and their utterances. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const SESSIONS_METRICS = {
  scheduler_sessions: {
    kind: 'gauge',
    help: 'Sessions by state: connected, or waiting for the client to return.',
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
    help: 'Messages of clients that were ignored, by reason.',
    labels: ['reason'],
    limits: ['scheduler.audio.max_bytes_per_session'],
  },
  scheduler_web_task_finalized_total: {
    kind: 'counter',
    help: 'Utterances cut out of a stream of chunks, by what ended them: send (the client ended it), pause, max_duration, max_bytes, close, next (another began), limit (the audio limit was reached).',
    labels: ['reason'],
    limits: ['scheduler.web_task_segmentation.max_duration_ms', 'scheduler.web_task_segmentation.max_bytes'],
  },
  scheduler_web_task_pause_ms: {
    kind: 'gauge',
    help: 'Silence that ends an utterance, as configured, in milliseconds.',
  },
  scheduler_utterance_outcomes_total: {
    kind: 'counter',
    help: 'Outcomes of utterances: result, or the reason why there is none.',
    labels: ['outcome'],
    limits: ['session.max_pending_results'],
  },
  scheduler_utterance_seconds: {
    kind: 'histogram',
    help: 'Time from the acceptance of an utterance to its outcome.',
  },
  scheduler_utterances_running: { kind: 'gauge', help: 'Utterances whose job has no outcome yet.' },
  scheduler_session_results_redelivered_total: {
    kind: 'counter',
    help: 'Results sent again to a client that reconnected.',
  },
  scheduler_session_results_forgotten_total: {
    kind: 'counter',
    help: 'Results dropped because the client has too many unacknowledged ones.',
    limits: ['session.max_kept_results', 'session.max_result_bytes'],
  },
  scheduler_session_result_bytes: {
    kind: 'gauge',
    help: 'Bytes of results that wait for an earlier one or for the acknowledgement of the client, of all sessions.',
    limits: ['session.max_result_bytes_total'],
  },
  scheduler_backpressure_total: {
    kind: 'counter',
    help: 'Backpressure messages sent to clients, by action.',
    labels: ['action'],
    limits: ['session.max_utterances'],
  },
  scheduler_client_outcomes_total: {
    kind: 'counter',
    help: 'Outcomes that arrived at clients, as they report when they close a session: result or missing.',
    labels: ['outcome'],
  },
  scheduler_client_resumes_total: {
    kind: 'counter',
    help: 'Times a session continued on a new connection, as clients report when they close it.',
  },
  scheduler_client_latency_seconds: {
    kind: 'histogram',
    help: 'Time from the end of an utterance to its translation, as clients report it: the median and the 99th percentile of each reported session.',
    labels: ['quantile'],
  },
  scheduler_client_reports_total: {
    kind: 'counter',
    help: 'Reports of clients about the translation of a job, by kind.',
    labels: ['kind'],
  },
  scheduler_audio_store_bytes: {
    kind: 'gauge',
    help: 'Bytes of input audio on this instance: kept for jobs and collected by sessions.',
    limits: ['scheduler.audio.max_bytes_total'],
  },
} as const satisfies Record<string, MetricEntry>;
