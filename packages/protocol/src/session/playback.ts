/** A client's messages about results: playback began or ended, or a result has arrived. */
import type { Static } from 'typebox';
import { count, id, measure, traceId } from '../shared/bounded.ts';
import { extensionMessage, message } from '../shared/message.ts';

export const TtsStarted = message('tts_started', 'Playback began: meanwhile pauses do not end utterances', {
  session_id: id('Session'),
  trace_id: traceId(),
  group_id: id('Group of the result'),
  ts_start_ms: measure('When (epoch ms)'),
});
export type TtsStarted = Static<typeof TtsStarted>;

export const TtsPlayEnded = message('tts_play_ended', 'Playback ended', {
  session_id: id('Session'),
  trace_id: traceId(),
  group_id: id('Group of the result'),
  ts_end_ms: measure('When (epoch ms)'),
});
export type TtsPlayEnded = Static<typeof TtsPlayEnded>;

export const ResultAck = extensionMessage(
  'result_ack',
  'All outcomes up to this one have arrived; unacknowledged ones are sent again after a resume',
  {
    session_id: id('Session'),
    delivery_seq: count('Highest delivery_seq received'),
  },
);
export type ResultAck = Static<typeof ResultAck>;
