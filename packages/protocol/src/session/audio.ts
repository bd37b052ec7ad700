/** Incoming audio: audio_chunk (hot path), utterance, and the scheduler's replies to them. */
import type { Static } from 'typebox';
import { AudioFormat, AudioRef, SampleRate } from '../shared/audio.ts';
import {
  base64,
  count,
  extension,
  flag,
  id,
  label,
  language,
  measure,
  oneOf,
  optional,
  text,
  traceId,
} from '../shared/bounded.ts';
import { FeatureFlags } from '../shared/feature-flags.ts';
import { languageMode, streamingAsr } from '../shared/language-mode.ts';
import { extensionMessage, message } from '../shared/message.ts';
import { Pipeline } from '../shared/pipeline.ts';
import { QuotaUse } from '../shared/quota.ts';

export const AudioChunk = message(
  'audio_chunk',
  'A piece of streamed audio; the scheduler cuts the utterances. One invalid chunk refuses its whole utterance: a single `error` names it by request_id, first_seq and last_seq when it ends',
  {
    session_id: id('Session'),
    seq: count(
      'Grows with each chunk; the first value is arbitrary. From clients that support utterance_accepted, a value that is not higher than the last one is a repeat and ignored; a refused one (RATE_LIMITED with its `seq` in the details) must be sent again, followed by the chunks after it',
    ),
    is_final: flag('The utterance ends here; with an empty payload: translate now'),
    payload: optional(base64('Audio')),
    client_timestamp_ms: optional(measure('When it was recorded (epoch ms)')),
    request_id: extension(
      id(
        'Id of the utterance: a different id begins the next utterance, and a final with an id ends it immediately. Makes a repeat harmless, also in another session',
      ),
    ),
  },
);
export type AudioChunk = Static<typeof AudioChunk>;

export const Utterance = message('utterance', 'A whole utterance, cut by the client', {
  session_id: id('Session'),
  utterance_index: count(
    'Position of the utterance in the session; if it was used already, utterance_accepted returns a higher one',
  ),
  manual_cut: flag('The speaker ended it'),
  src_lang: language('Source language, or `auto`'),
  tgt_lang: language('Target language'),
  dialect: optional(label('Dialect of the speaker')),
  features: optional(FeatureFlags),
  audio: base64('Audio; empty if audio_ref is given'),
  audio_format: AudioFormat,
  sample_rate: SampleRate,
  ...languageMode,
  ...streamingAsr,
  trace_id: optional(traceId()),
  pipeline: optional(Pipeline),
  request_id: extension(
    id('Makes a repeat of this utterance harmless, also in another session; after a failure it is a retry'),
  ),
  audio_ref: extension(AudioRef),
});
export type Utterance = Static<typeof Utterance>;

export const UtteranceAccepted = extensionMessage(
  'utterance_accepted',
  'For clients that support utterance_accepted. The scheduler is responsible for the audio from now on. Sent again after a resume as long as the outcome is not acknowledged; chunks repeated by seq are ignored',
  {
    utterance_index: count('Position of the utterance in the session, as in its outcome'),
    job_id: id('Its job'),
    request_id: optional(id('As sent by the client')),
    first_seq: optional(count('First chunk of the utterance')),
    last_seq: optional(count('Last chunk of the utterance')),
    quota: optional(QuotaUse),
  },
);
export type UtteranceAccepted = Static<typeof UtteranceAccepted>;

export const Backpressure = message('backpressure', 'Send less audio for a while', {
  action: oneOf(
    ['BUSY', 'PAUSE', 'SLOW_DOWN'],
    'SLOW_DOWN: this session sends too much; BUSY: all sessions do; PAUSE: send nothing. Clients that do not support backpressure get only PAUSE, at least 500 ms apart',
  ),
  resume_after_ms: optional(count('When to continue')),
  message: optional(text('Text for people')),
});
export type Backpressure = Static<typeof Backpressure>;
