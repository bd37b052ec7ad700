/** What a client says about results: it has begun or ended to play one, or has received it. */
import type { Static } from 'typebox';
import { count, id, measure, traceId } from '../shared/bounded.ts';
import { extensionMessage, message } from '../shared/message.ts';

export const TtsStarted = message('tts_started', 'Playback began: pauses do not end utterances meanwhile', {
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
  'All outcomes up to this one have arrived; those that were not acknowledged come again after a resume',
  {
    session_id: id('Session'),
    delivery_seq: count('Highest delivery_seq received'),
  },
);
export type ResultAck = Static<typeof ResultAck>;
