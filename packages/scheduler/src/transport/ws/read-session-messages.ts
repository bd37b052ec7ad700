/** Hot path: translates a session's messages from the protocol to session events. Pure. */
import type {
  AudioChunk,
  Problem,
  SessionInit,
  SessionToScheduler,
  Utterance as UtteranceMessage,
} from '@lingua/protocol';
import type { TenantId } from '../../domain/ids.ts';
import type { JobSpec, Pipeline } from '../../domain/job-spec.ts';
import { AUTO, foldLanguage } from '../../domain/language.ts';
import { type NamedLanguages, readLanguages } from '../../domain/needed-directions.ts';
import type { WantedTarget } from '../../domain/plan.ts';
import type { ClientEvent } from '../../session/event.ts';
import type { Opening, Speech } from '../../session/session.ts';
import { decodeBase64, readAudio } from '../wire/read-audio.ts';

export type Read<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'invalid'; readonly problem: Problem };

/** Messages within an open session. */
export type SessionMessage = Exclude<
  SessionToScheduler,
  { type: 'session_init' | `room_${string}` | `webrtc_${string}` }
>;

/** Legacy clients send opus, whatever was negotiated. */
const LEGACY_FORMAT = 'opus';
const DEFAULT_SAMPLE_RATE = 16_000;
const NO_PAIRING = 'pairing codes are not issued: the session is open without one';

export interface OpeningContext {
  readonly tenantId: TenantId;
  readonly credential: string;
  /** For sessions that send none. */
  readonly traceId: string;
}

export function readOpening(init: SessionInit, context: OpeningContext): Read<Opening> {
  const speech = readSpeech(init, chunkFormat(init.audio_format), init.sample_rate ?? DEFAULT_SAMPLE_RATE);
  if (speech.kind === 'invalid') return speech;
  const targets = readTargets(init);
  if (targets?.kind === 'invalid') return targets;
  const { resume_session_id: sessionId, resume_token: token, resume_delivery_seq: receivedSeq } = init;
  return {
    kind: 'read',
    value: {
      ...context,
      traceId: init.trace_id === undefined || init.trace_id === '' ? context.traceId : init.trace_id,
      abilities: init.supports === undefined ? undefined : new Set(init.supports),
      speech: { ...speech.value, targets: targets?.value, glossaryId: init.glossary_id },
      platform: init.platform,
      region: init.region,
      resume: sessionId === undefined || token === undefined ? undefined : { sessionId, token, receivedSeq },
      warning: init.pairing_code === undefined ? undefined : NO_PAIRING,
    },
  };
}

/** Undefined: the client wants one language. */
function readTargets(init: SessionInit): Read<readonly WantedTarget[]> | undefined {
  const { tgt_langs: wanted, voice_langs: voices, supports = [] } = init;
  if (wanted === undefined && voices === undefined) return undefined;
  if (wanted === undefined)
    return invalid('/voice_langs', '"voice_langs" needs "tgt_langs", the languages to translate to');
  if (!supports.includes('result_ack'))
    return invalid(
      '/tgt_langs',
      '"tgt_langs" needs "result_ack" in "supports": each language has outcomes of its own',
    );
  if (init.mode === 'two_way_auto')
    return invalid('/mode', '"mode" must be one_way in a session with "tgt_langs"');
  const languages = [...new Set(wanted.map(foldLanguage))];
  if (languages.length === 0 || languages.includes(AUTO))
    return invalid('/tgt_langs', '"tgt_langs" must name at least one language, and not "auto"');
  const spoken = voices?.map(foldLanguage);
  const other = spoken?.find((language) => !languages.includes(language));
  if (other !== undefined)
    return invalid('/voice_langs', `"voice_langs" names "${other}", which is not among "tgt_langs"`);
  const value = languages.map((language) => ({
    language,
    isVoiceWanted: spoken === undefined || spoken.includes(language),
  }));
  return { kind: 'read', value };
}

/** A stream has no header to unwrap, so chunks are never wav. */
const chunkFormat = (wanted: string | undefined): string =>
  wanted === undefined ? LEGACY_FORMAT : wanted === 'wav' ? 'pcm16' : wanted;

function readSpeech(
  named: NamedLanguages &
    Pick<SessionInit, 'dialect' | 'features' | 'enable_streaming_asr' | 'partial_update_interval_ms'>,
  audioFormat: string,
  sampleRate: number,
): Read<Speech> {
  const read = readLanguages(named);
  if (read.kind === 'invalid') return invalid(read.field, read.message);
  return {
    kind: 'read',
    value: {
      languages: read.languages,
      mode: named.mode,
      dialect: named.dialect,
      features: named.features as JobSpec['features'] | undefined,
      enableStreamingAsr: named.enable_streaming_asr,
      partialUpdateIntervalMs: named.partial_update_interval_ms,
      audioFormat,
      sampleRate,
    },
  };
}

export function readMessage(message: SessionMessage): Read<ClientEvent> {
  switch (message.type) {
    case 'audio_chunk':
      return readChunk(message);
    case 'utterance':
      return readUtterance(message);
    case 'client_heartbeat':
      return HEARTBEAT;
    case 'tts_started':
      return { kind: 'read', value: { kind: 'playback_started', groupId: message.group_id } };
    case 'tts_play_ended':
      return { kind: 'read', value: { kind: 'playback_ended', groupId: message.group_id } };
    case 'session_close':
      return CLOSE;
    case 'result_ack':
      return { kind: 'read', value: { kind: 'acknowledged', deliverySeq: message.delivery_seq } };
  }
}

const HEARTBEAT: Read<ClientEvent> = { kind: 'read', value: { kind: 'heartbeat' } };
const CLOSE: Read<ClientEvent> = { kind: 'read', value: { kind: 'close' } };

function readChunk(message: AudioChunk): Read<ClientEvent> {
  const { payload } = message;
  const audio = payload === undefined || payload === '' ? undefined : decodeBase64(payload);
  if (audio === undefined && payload !== undefined && payload !== '') {
    return invalid('/payload', '"payload" must be base64');
  }
  return {
    kind: 'read',
    value: {
      kind: 'chunk',
      seq: message.seq,
      audio,
      isFinal: message.is_final,
      requestId: message.request_id,
      clientTimestampMs: message.client_timestamp_ms,
    },
  };
}

function readUtterance(message: UtteranceMessage): Read<ClientEvent> {
  const { audio, audio_ref: ref, audio_format, sample_rate } = message;
  // With a reference, the audio field is present and empty.
  const named = ref === undefined ? { audio } : { audio_ref: ref.url, ...(audio !== '' && { audio }) };
  const sound = readAudio({ ...named, audio_format, sample_rate });
  if (sound.kind === 'invalid') return invalid(sound.field, sound.message);
  const speech = readSpeech(message, sound.audioFormat, sound.sampleRate);
  if (speech.kind === 'invalid') return speech;
  const { trace_id: traceId } = message;
  return {
    kind: 'read',
    value: {
      kind: 'utterance',
      index: message.utterance_index,
      isManualCut: message.manual_cut,
      speech: speech.value,
      pipeline: readPipeline(message.pipeline),
      traceId: traceId === '' ? undefined : traceId,
      requestId: message.request_id,
      source: sound.source,
      audio: sound.data,
    },
  };
}

const readPipeline = (pipeline: UtteranceMessage['pipeline']): Pipeline | undefined =>
  pipeline && {
    ...pipeline,
    use_semantic: pipeline.use_semantic ?? false,
    use_tone: pipeline.use_tone ?? false,
  };

const invalid = (path: string, message: string): { kind: 'invalid'; problem: Problem } => ({
  kind: 'invalid',
  problem: { path, message },
});
