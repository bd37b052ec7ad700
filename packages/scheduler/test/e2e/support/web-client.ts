/**
 * The legacy web client with raw frames and the habits that docs/protocol.md documents in its last section. It
 * supports no extension, sends null for absent fields, and length-prefixed opus in chunks of 256 ms, whatever was
 * negotiated.
 */
import {
  connectSession,
  type Frame,
  type SessionClient,
  type SessionClientOptions,
} from './session-client.ts';

export interface WebClientOptions extends SessionClientOptions {
  /** Its chunk counter survives its connections. */
  readonly seq?: number;
  readonly init?: Readonly<Record<string, unknown>>;
}

export interface WebClient extends SessionClient {
  /** Sends 256 ms of speech and returns the audio; may name another session, as after a double click. */
  speak(sound?: number, sessionId?: string): Buffer;
  /** The user releases the button: an empty final, not queued behind the audio. */
  letGo(sessionId?: string): void;
  /** The seq of the next chunk. */
  seq(): number;
  beat(): void;
  play(result: Frame): void;
  playEnd(result: Frame): void;
  /** Errors, each of which is an alert on the screen. */
  alerts(): readonly Frame[];
}

const PACKETS = 13;
const PACKET_BYTES = 40;

/** 13 packets of 20 ms, each after its length. */
export function opus(sound: number): Buffer {
  const packet = Buffer.concat([Buffer.from([PACKET_BYTES, 0]), Buffer.alloc(PACKET_BYTES, sound)]);
  return Buffer.concat(Array<Buffer>(PACKETS).fill(packet));
}

/** Its default mode. */
export const WEB_INIT = {
  type: 'session_init',
  client_version: 'web-client-v1.0',
  platform: 'web',
  src_lang: 'auto',
  tgt_lang: 'en',
  dialect: null,
  features: {},
  pairing_code: null,
  tenant_id: null,
  mode: 'two_way_auto',
  lang_a: 'zh',
  lang_b: 'en',
  auto_langs: null,
  enable_streaming_asr: true,
  partial_update_interval_ms: 1_000,
  trace_id: null,
} as const;

export async function openWebClient(options: WebClientOptions): Promise<WebClient> {
  const client = connectSession(options);
  let seq = options.seq ?? 0;

  const send = (isFinal: boolean, payload: string, sessionId = client.sessionId()): void =>
    client.send({ type: 'audio_chunk', session_id: sessionId, seq: seq++, is_final: isFinal, payload });

  const about = ({ session_id, trace_id, group_id }: Frame) => ({ session_id, trace_id, group_id });
  const web: WebClient = {
    ...client,
    speak(sound = 1, sessionId) {
      const audio = opus(sound);
      send(false, audio.toString('base64'), sessionId);
      return audio;
    },
    letGo: (sessionId) => send(true, '', sessionId),
    seq: () => seq,
    beat: () =>
      client.send({ type: 'client_heartbeat', session_id: client.sessionId(), timestamp: Date.now() }),
    play: (result) => client.send({ type: 'tts_started', ...about(result), ts_start_ms: Date.now() }),
    playEnd: (result) => client.send({ type: 'tts_play_ended', ...about(result), ts_end_ms: Date.now() }),
    alerts: () => client.of('error'),
  };
  await client.init({ ...WEB_INIT, ...options.init });
  return web;
}
