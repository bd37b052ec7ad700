/** Messages about a session's utterances, in their order: asr_partial, translation_result, missing_result, ui_event. */
import type { Static } from 'typebox';
import {
  anyOf,
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
  quantity,
  text,
  traceId,
} from '../shared/bounded.ts';
import { Extra } from '../shared/extra.ts';
import { glossaryUsed } from '../shared/glossary.ts';
import { extensionMessage, message } from '../shared/message.ts';
import { recognitionQuality } from '../shared/result-fields.ts';
import { NetworkTimings, ServiceTimings } from '../shared/timings.ts';

const rendition = {
  tgt_lang: extension(language('Language of this outcome, in sessions with tgt_langs')),
};

const utterance = {
  session_id: id('Session'),
  utterance_index: count('Position of the utterance in the session'),
};

export const SessionAsrPartial = message('asr_partial', 'Text recognised so far', {
  ...utterance,
  job_id: id('Job'),
  text: text('Recognised text'),
  is_final: flag('The text is final'),
  revision: extension(
    count(
      'While somebody speaks: a higher one replaces the text of a lower one; sent if enable_streaming_asr is set and a node supports interim',
    ),
  ),
  trace_id: traceId(),
});
export type SessionAsrPartial = Static<typeof SessionAsrPartial>;

export const TranslationPartial = extensionMessage(
  'translation_partial',
  'Translation of a text while somebody speaks; nothing follows from it, and the outcome replaces it',
  {
    ...utterance,
    job_id: id('Job'),
    tgt_lang: label('Language of the text'),
    text: text('Translated text'),
    revision: count('Of the recognised text; a higher one replaces the text of a lower one'),
    trace_id: traceId(),
  },
);
export type TranslationPartial = Static<typeof TranslationPartial>;

export const TranslationResult = message('translation_result', 'The outcome of an utterance', {
  ...utterance,
  job_id: id('Job'),
  text_asr: text('Recognised text'),
  text_translated: text('Translated text'),
  tts_audio: base64('Spoken translation; may be empty'),
  tts_format: label('`opus`: length-prefixed, 16 kHz mono; anything else: pcm16 at 16 kHz'),
  extra: optional(Extra),
  trace_id: traceId(),
  group_id: optional(id('Group of the utterance; send it when reporting playback')),
  part_index: optional(count('Position in the group')),
  service_timings: optional(ServiceTimings),
  network_timings: optional(NetworkTimings),
  scheduler_sent_at_ms: optional(quantity('When it was sent (epoch ms)')),
  ...recognitionQuality,
  glossary_used: glossaryUsed,
  ...rendition,
  delivery_seq: extension(
    count(
      'Number of the outcome in the session, without gaps; for clients that support result_ack, which acknowledge it',
    ),
  ),
});
export type TranslationResult = Static<typeof TranslationResult>;

export const VoiceResult = extensionMessage(
  'voice_result',
  'The spoken translation into one of several languages; its text is a translation_result of its own, which it usually follows',
  {
    ...utterance,
    job_id: id('Job'),
    tgt_lang: language('Language'),
    tts_audio: base64('Spoken translation'),
    tts_format: label('As in translation_result'),
    extra: optional(Extra),
    trace_id: traceId(),
    group_id: optional(id('Group of the utterance; send it when reporting playback')),
    part_index: optional(count('Position in the group')),
    service_timings: optional(ServiceTimings),
    scheduler_sent_at_ms: optional(quantity('When it was sent (epoch ms)')),
    delivery_seq: count('Number of the outcome in the session, without gaps'),
  },
);
export type VoiceResult = Static<typeof VoiceResult>;

export const MissingResult = message(
  'missing_result',
  'The outcome of an utterance that has no translation',
  {
    ...utterance,
    reason: anyOf(
      ['gap_timeout', 'pending_overflow_evict', 'silence_detected', 'job_failed'],
      'gap_timeout: later outcomes waited too long for it; pending_overflow_evict: too many outcomes waited for it; silence_detected: there was no speech; job_failed: an `error` has the reason, for legacy clients only the ui_event',
    ),
    created_at_ms: quantity('When (epoch ms)'),
    trace_id: optional(traceId()),
    ...rendition,
    part: extension(
      oneOf(['voice'], 'The text has arrived or is an outcome of its own; only the voice is missing'),
    ),
    delivery_seq: extension(
      count(
        'Number of the outcome in the session, without gaps; for clients that support result_ack, which acknowledge it',
      ),
    ),
  },
);
export type MissingResult = Static<typeof MissingResult>;

export const UI_EVENTS = [
  'INPUT_STARTED',
  'INPUT_ENDED',
  'ASR_PARTIAL',
  'ASR_FINAL',
  'DISPATCHED',
  'NODE_ACCEPTED',
  'NMT_DONE',
  'TTS_PLAY_STARTED',
  'TTS_PLAY_ENDED',
  'ERROR',
] as const;

export const UiEvent = message('ui_event', 'Progress of an utterance, for display', {
  trace_id: traceId(),
  ...utterance,
  job_id: id('Job'),
  event: anyOf(UI_EVENTS, 'What happened'),
  elapsed_ms: optional(measure('Time since the utterance was accepted')),
  status: oneOf(['ok', 'error'], 'Whether it succeeded'),
  error_code: optional(label('Error code')),
  hint: optional(text('Advice for people')),
});
export type UiEvent = Static<typeof UiEvent>;
