/** Builds the messages of a session. */
import type { AudioChunk, SessionInit, SessionToScheduler, Utterance } from '@lingua/protocol';
import { encodeBase64 } from './base64.ts';
import type { Frame } from './outbox-entry.ts';
import { CLIENT_VERSION, SESSION_EXTENSIONS, type SessionOptions, type Speech } from './session-options.ts';

/** Optional fields may be undefined: JSON omits them. */
type Loose<Message> = Message extends unknown
  ? { [Key in keyof Message]: object extends Pick<Message, Key> ? Message[Key] | undefined : Message[Key] }
  : never;
export type Outgoing = Loose<SessionToScheduler>;

export interface AudioSettings extends Speech {
  readonly audioFormat: 'pcm16' | 'opus';
  readonly sampleRate: number;
}

/** The session to resume, if the scheduler still has it. */
export interface Resume {
  readonly sessionId: string;
  readonly token: string;
}

export const sessionInit = (
  settings: AudioSettings &
    Pick<
      SessionOptions,
      'tenantId' | 'platform' | 'clientVersion' | 'region' | 'tgtLangs' | 'voiceLangs' | 'glossaryId'
    >,
  resume: (Resume & { readonly deliverySeq: number | undefined }) | undefined,
): Loose<SessionInit> => ({
  type: 'session_init',
  client_version: settings.clientVersion ?? CLIENT_VERSION,
  platform: settings.platform ?? 'web',
  ...speechFields(settings),
  glossary_id: settings.glossaryId,
  tgt_langs: settings.tgtLangs && [...settings.tgtLangs],
  voice_langs: settings.voiceLangs && [...settings.voiceLangs],
  region: settings.region,
  tenant_id: settings.tenantId,
  resume_session_id: resume?.sessionId,
  resume_token: resume?.token,
  resume_delivery_seq: resume?.deliverySeq,
  supports: [...SESSION_EXTENSIONS],
  audio_format: settings.audioFormat,
  sample_rate: settings.sampleRate,
});

export function audioMessage(
  frame: Frame,
  sessionId: string,
  settings: AudioSettings,
): Loose<AudioChunk> | Loose<Utterance> {
  const audio = encodeBase64(frame.bytes);
  if (frame.kind === 'chunk')
    return {
      type: 'audio_chunk',
      session_id: sessionId,
      seq: frame.seq,
      is_final: frame.isFinal,
      payload: audio,
      request_id: frame.requestId,
    };
  const { options } = frame;
  return {
    type: 'utterance',
    session_id: sessionId,
    utterance_index: frame.utteranceIndex,
    manual_cut: options.manualCut ?? true,
    ...speechFields({ ...settings, ...present(options) }),
    audio,
    audio_format: options.audioFormat ?? settings.audioFormat,
    sample_rate: options.sampleRate ?? settings.sampleRate,
    pipeline: options.pipeline,
    request_id: frame.requestId,
  };
}

const speechFields = (speech: Speech) => ({
  src_lang: speech.srcLang,
  tgt_lang: speech.tgtLang,
  dialect: speech.dialect,
  features: speech.features,
  mode: speech.mode,
  lang_a: speech.langA,
  lang_b: speech.langB,
  auto_langs: speech.autoLangs === undefined ? undefined : [...speech.autoLangs],
  enable_streaming_asr: speech.enableStreamingAsr,
  partial_update_interval_ms: speech.partialUpdateIntervalMs,
  trace_id: speech.traceId,
});

/** Drops undefined options, so that they do not replace those of the session. */
const present = <Given extends object>(
  given: Given,
): { [Key in keyof Given]: Exclude<Given[Key], undefined> } =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Given]: Exclude<Given[Key], undefined>;
  };
