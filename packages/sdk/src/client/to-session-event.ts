/** Translates a frame of the scheduler to an event for the application. Pure. */
import type {
  MissingResult,
  SessionAsrPartial,
  TranslationPartial,
  TranslationResult,
  UiEvent,
  VoiceResult,
} from '@lingua/protocol';
import { decodeBase64 } from './base64.ts';
import { asCount, asText, type ServerFrame } from './read-frame.ts';
import type { OfUtterance, SessionEvent } from './session-events.ts';

/** Undefined: the frame is no event, or is invalid. */
export function toSessionEvent(
  frame: ServerFrame,
  requestIdOf: (utteranceIndex: number) => string | undefined,
): SessionEvent | undefined {
  if (frame.type === 'error')
    return {
      type: 'error',
      code: asText(frame.code) ?? 'INTERNAL_ERROR',
      message: asText(frame.message) ?? '',
      details: frame.details ?? undefined,
      isFatal: false,
    };
  if (frame.type === 'backpressure') {
    const { action } = frame;
    if (action !== 'PAUSE' && action !== 'SLOW_DOWN' && action !== 'BUSY') return undefined;
    return { type: 'backpressure', action, resumeAfterMs: asCount(frame.resume_after_ms) };
  }
  const utteranceIndex = asCount(frame.utterance_index);
  if (utteranceIndex === undefined) return undefined;
  return eventOfUtterance(frame, { utteranceIndex, requestId: requestIdOf(utteranceIndex) });
}

function eventOfUtterance(frame: ServerFrame, of: OfUtterance): SessionEvent | undefined {
  const message = frame as unknown;
  switch (frame.type) {
    case 'asr_partial':
    case 'translation_partial':
      return {
        type: 'partial',
        ...of,
        text: asText(frame.text) ?? '',
        isFinal: frame.is_final === true,
        revision: (message as SessionAsrPartial).revision,
        language: frame.type === 'asr_partial' ? undefined : asText(frame.tgt_lang),
        message: message as SessionAsrPartial | TranslationPartial,
      };
    case 'translation_result':
      return {
        type: 'result',
        ...of,
        language: asText(frame.tgt_lang),
        textAsr: asText(frame.text_asr) ?? '',
        textTranslated: asText(frame.text_translated) ?? '',
        ...speechOf(frame),
        detectedLanguage: asText(frame.detected_language),
        glossaryUsed: (message as TranslationResult).glossary_used,
        message: message as TranslationResult,
      };
    case 'voice_result':
      return {
        type: 'voice',
        ...of,
        language: asText(frame.tgt_lang) ?? '',
        ...speechOf(frame),
        message: message as VoiceResult,
      };
    case 'missing_result':
      return {
        type: 'missing',
        ...of,
        reason: asText(frame.reason) ?? 'job_failed',
        language: asText(frame.tgt_lang),
        part: frame.part === 'voice' ? 'voice' : 'text',
        error: undefined,
        message: message as MissingResult,
      };
    case 'ui_event':
      return {
        type: 'uiEvent',
        ...of,
        event: asText(frame.event) ?? '',
        isError: frame.status === 'error',
        errorCode: asText(frame.error_code),
        hint: asText(frame.hint),
        message: message as UiEvent,
      };
    default:
      return undefined;
  }
}

const speechOf = (frame: ServerFrame) => ({
  ttsAudio: decodeBase64(asText(frame.tts_audio) ?? '') ?? new Uint8Array(0),
  ttsFormat: asText(frame.tts_format) ?? '',
  groupId: asText(frame.group_id),
  traceId: asText(frame.trace_id) ?? '',
});
