/**
 * The web client as it is legacy: raw frames, and the habits that docs/protocol.md measures in its last section. It knows no
 * extension, sends null for what it does not have, and length-prefixed opus in pieces of 256 ms whatever was agreed upon.
 */
import {
  connectSession,
  type SessionClient,
  type SessionClientOptions,
  type Told,
} from './session-client.ts';

export interface WebClientOptions extends SessionClientOptions {
  /** Its counter of chunks outlives its connections. */
  readonly seq?: number;
  readonly init?: Readonly<Record<string, unknown>>;
}

export interface WebClient extends SessionClient {
  /** 256 ms of speech; the audio as it went out. Another session's id, as after a double click. */
  speak(sound?: number, sessionId?: string): Buffer;
  /** The button is let go of: an empty final, not queued behind the audio. */
  letGo(sessionId?: string): void;
  /** The next number of a chunk. */
  seq(): number;
  beat(): void;
  play(result: Told): void;
  playEnd(result: Told): void;
  /** Errors, each of which is an alert on the screen. */
  alerts(): readonly Told[];
}

const PACKETS = 13;
const PACKET_BYTES = 40;

/** 13 packets of 20 ms, each behind its length. */
export function opus(sound: number): Buffer {
  const packet = Buffer.concat([Buffer.from([PACKET_BYTES, 0]), Buffer.alloc(PACKET_BYTES, sound)]);
  return Buffer.concat(Array<Buffer>(PACKETS).fill(packet));
}

/** In its default mode. */
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

  const about = ({ session_id, trace_id, group_id }: Told) => ({ session_id, trace_id, group_id });
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
