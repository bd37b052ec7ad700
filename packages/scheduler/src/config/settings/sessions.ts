/** Settings of sessions: idempotency, where utterances end, ordered delivery, audio. */
import { boolean, bytes, choice, group, ignored, integer, number } from '../setting.ts';

const KB = 1024;
const MB = 1024 * KB;

export const session = group('Sessions on sockets.', {
  utterance_index_base: choice({
    choices: ['time', '0', 'random'],
    default: 'time',
    doc: 'First utterance_index of a session. After a reconnect the legacy web client starts a new session, hides results whose index it has already shown, and speaks the others in the order of their index. "time": the utterances cut from the audio of a legacy session start at the tenths of seconds since 1970, modulo 10,000,000; a later session has higher ones, except once in 11 days. All other sessions start at 0. "0" and "random" apply to every session.',
  }),
  max_sessions: integer({
    default: 100_000,
    min: 1,
    max: 10_000_000,
    doc: 'Sessions on one instance, including those that may still be resumed. At the limit the session that has been disconnected longest is dropped; if all are connected, sockets are refused at the upgrade.',
  }),
  max_utterances: integer({
    default: 32,
    min: 1,
    max: 10_000,
    doc: 'Utterances of one session that have no outcome yet. Above it further ones end at once with RATE_LIMITED.',
  }),
  max_pending_results: integer({
    default: 32,
    min: 1,
    max: 10_000,
    doc: 'Results of one session that wait for an earlier one. Above it the earlier one is skipped (pending_overflow_evict).',
  }),
  max_kept_results: integer({
    default: 256,
    min: 1,
    max: 100_000,
    doc: 'Results kept for a session until it acknowledges them or resumes; the oldest are dropped first.',
  }),
  max_result_bytes: bytes({
    default: 16 * MB,
    min: 64 * KB,
    max: 1024 * MB,
    doc: 'Bytes of results that one session may have waiting or kept.',
  }),
  max_result_bytes_total: bytes({
    default: 1024 * MB,
    min: MB,
    max: 1024 * 1024 * MB,
    doc: 'Bytes of results that wait or are kept, of all sessions. Above it results of the session that has been disconnected longest are dropped.',
  }),
});

export const utteranceGroup = group('Utterances that belong together: an answer given soon after playback.', {
  window_ms: integer({
    default: 2_000,
    min: 0,
    max: 600_000,
    unit: 'ms',
    doc: 'How soon after the end of playback an utterance must begin to belong to the same group.',
  }),
  max_parts: integer({ default: 8, min: 1, max: 1_000, doc: 'Utterances in a group.' }),
  max_chars: integer({
    default: 800,
    min: 0,
    max: 100_000,
    doc: 'Characters of earlier parts that a node gets as context; the newest are kept.',
  }),
});

export const backpressure = group('When clients are requested to send less.', {
  slow_down_percent: number({
    default: 50,
    min: 1,
    max: 100,
    unit: 'percent',
    doc: 'Share of a limit (utterances, audio, waiting jobs) from which a client gets SLOW_DOWN, or BUSY if the fleet is full.',
  }),
  pause_percent: number({
    default: 80,
    min: 1,
    max: 100,
    unit: 'percent',
    doc: 'Share from which it gets PAUSE. Legacy clients get nothing but PAUSE.',
  }),
  resume_after_ms: integer({
    default: 2_000,
    min: 100,
    max: 60_000,
    unit: 'ms',
    doc: 'Time after which it may continue.',
  }),
});

export const delivery = {
  result_gap_timeout_ms: integer({
    default: 10_000,
    min: 10,
    max: 600_000,
    unit: 'ms',
    doc: 'How long a ready result waits for an earlier one of its session before that one is skipped. Outcomes without text (silence, a failure) start no such wait.',
  }),
  result_gap_max_ms: integer({
    default: 30_000,
    min: 10,
    max: 600_000,
    unit: 'ms',
    doc: 'The same while a node has the earlier one: the node works on it until it answers, is lost, or leaves it out of two heartbeats in a row; a legacy node also until it answers a later one.',
  }),
  session_resume_ttl_ms: integer({
    default: 60_000,
    min: 0,
    max: 3_600_000,
    unit: 'ms',
    doc: 'How long a session that lost its socket can be resumed.',
  }),
};

export const taskBinding = group(
  'Binding of a request_id to its job, and spreading of sessions over nodes.',
  {
    lease_seconds: number({
      default: 90,
      min: 1,
      max: 86_400,
      unit: 'seconds',
      doc: 'How long a request_id still names its job after the job ended.',
    }),
    max_bindings: integer({
      default: 200_000,
      min: 1,
      max: 10_000_000,
      doc: 'Bindings that are kept. Finished ones are dropped first, then requests are refused with RATE_LIMITED.',
    }),
    spread_enabled: boolean({
      default: false,
      doc: 'A session avoids the node of its last job, if another can do it.',
    }),
    spread_window_seconds: number({
      default: 30,
      min: 1,
      max: 3_600,
      unit: 'seconds',
      doc: 'For how long it avoids that node.',
    }),
  },
);

export const segmentation = group('Where the utterances of a stream of audio_chunk end.', {
  pause_ms: integer({
    default: 1_000,
    min: 50,
    max: 60_000,
    unit: 'ms',
    doc: 'Silence that ends an utterance.',
  }),
  max_duration_ms: integer({
    default: 20_000,
    min: 0,
    max: 600_000,
    unit: 'ms',
    doc: 'Longest utterance; 0 is no limit.',
  }),
  max_bytes: bytes({ default: 512 * KB, min: 4 * KB, max: 64 * MB, doc: 'Largest utterance.' }),
  playback_max_ms: integer({
    default: 30_000,
    min: 0,
    max: 600_000,
    unit: 'ms',
    doc: 'How long playback may suspend the pause rule if its end is never reported.',
  }),
  edge_stabilization: group('Treatment of the first and last sounds of an utterance.', {
    hangover_auto_ms: integer({
      default: 150,
      min: 0,
      max: 10_000,
      unit: 'ms',
      doc: 'Wait for late chunks after a pause.',
    }),
    hangover_manual_ms: integer({
      default: 200,
      min: 0,
      max: 10_000,
      unit: 'ms',
      doc: 'Wait for late chunks after a manual cut.',
    }),
    late_audio_ms: integer({
      default: 300,
      min: 0,
      max: 10_000,
      unit: 'ms',
      doc: 'Wait for late chunks after an empty is_final of a legacy client, whose is_final overtakes its last audio.',
    }),
    padding_auto_ms: integer({
      default: 220,
      min: 0,
      max: 10_000,
      unit: 'ms',
      doc: 'Silence a node adds at the end after a pause (`padding_ms` of the job).',
    }),
    padding_manual_ms: integer({
      default: 280,
      min: 0,
      max: 10_000,
      unit: 'ms',
      doc: 'Silence a node adds at the end after a manual cut.',
    }),
    short_merge_threshold_ms: ignored('Short utterances are not merged.'),
  }),
});

export const audio = group('Input audio on this instance.', {
  max_bytes_total: bytes({ default: 512 * MB, min: MB, max: 1024 * 1024 * MB, doc: 'Audio in total.' }),
  max_bytes_per_session: bytes({
    default: 16 * MB,
    min: 64 * KB,
    max: 1024 * MB,
    doc: 'Audio of one session: collected audio and audio of its jobs.',
  }),
  max_bytes_per_job: bytes({ default: 8 * MB, min: 4 * KB, max: 256 * MB, doc: 'Audio of one job.' }),
  inline_max_bytes: bytes({
    default: 64 * KB,
    min: 0,
    max: 256 * MB,
    doc: 'Largest audio that every node gets in the message itself. Larger audio is fetched by nodes that support it (`audio_ref`), if there is an address: see `server.advertise_url`. 0: all audio is fetched.',
  }),
});

export const privacy = group('What is kept of what people said; see docs/privacy.md.', {
  store_texts: boolean({
    default: true,
    doc: 'With false, texts and speech are erased from a job as soon as its client has them: when a session has acknowledged its result (or was sent it, if it does not acknowledge), and when an HTTP client has read the job once. A repeat of its request_id then finds the job with empty texts and `extra.erased`.',
  }),
});
