/** Metrics of sessions and their utterances. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const SESSIONS_METRICS = {
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
  scheduler_web_task_finalized_total: {
    kind: 'counter',
    help: 'Utterances cut out of a stream of chunks, by what ended them: send (the client said so), pause, max_duration, max_bytes, close, next (another began), limit (no room for more audio).',
    labels: ['reason'],
    limits: ['scheduler.web_task_segmentation.max_duration_ms', 'scheduler.web_task_segmentation.max_bytes'],
  },
  scheduler_web_task_pause_ms: {
    kind: 'gauge',
    help: 'Silence that ends an utterance, as configured, in milliseconds.',
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
} as const satisfies Record<string, MetricEntry>;
