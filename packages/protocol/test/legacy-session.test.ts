/** The messages of the legacy web client, including nulls and omissions, are accepted. */
import { describe, expect, it } from 'vitest';
import { parseSessionMessage } from '../src/index.ts';
import { withoutNulls } from './without-nulls.ts';

const fromSession = {
  session_init: {
    type: 'session_init',
    client_version: '1.0.0',
    platform: 'web',
    src_lang: 'auto',
    tgt_lang: 'en',
    dialect: null,
    features: { emotion_detection: true, voice_style_detection: null },
    pairing_code: null,
    tenant_id: null,
    mode: 'two_way_auto',
    lang_a: 'zh',
    lang_b: 'en',
    auto_langs: ['zh', 'en'],
    enable_streaming_asr: true,
    partial_update_interval_ms: 1000,
    trace_id: null,
  },
  'audio_chunk with audio': {
    type: 'audio_chunk',
    session_id: 's-1',
    seq: 41,
    is_final: false,
    payload: 'AAECAw==',
  },
  'audio_chunk that ends an utterance': {
    type: 'audio_chunk',
    session_id: 's-1',
    seq: 42,
    is_final: true,
    payload: '',
  },
  'audio_chunk without payload': {
    type: 'audio_chunk',
    session_id: 's-1',
    seq: 43,
    is_final: true,
    payload: null,
  },
  utterance: {
    type: 'utterance',
    session_id: 's-1',
    utterance_index: 0,
    manual_cut: true,
    src_lang: 'zh',
    tgt_lang: 'en',
    dialect: null,
    features: null,
    audio: 'AAECAw==',
    audio_format: 'pcm16',
    sample_rate: 16000,
    mode: null,
    lang_a: null,
    lang_b: null,
    auto_langs: null,
    trace_id: null,
    pipeline: { use_asr: true, use_nmt: true, use_tts: true, use_semantic: false, use_tone: false },
  },
  client_heartbeat: { type: 'client_heartbeat', session_id: 's-1', timestamp: 1_767_000_000_000 },
  tts_started: {
    type: 'tts_started',
    session_id: 's-1',
    trace_id: '',
    group_id: 'g-1',
    ts_start_ms: 1_767_000_000_000.5,
  },
  tts_play_ended: {
    type: 'tts_play_ended',
    session_id: 's-1',
    trace_id: 't',
    group_id: 'g-1',
    ts_end_ms: 1_767_000_000_000,
  },
  session_close: { type: 'session_close', session_id: 's-1', reason: 'user_closed' },
  room_create: {
    type: 'room_create',
    client_ts: 1_767_000_000_000,
    display_name: null,
    preferred_lang: 'zh',
  },
  room_join: { type: 'room_join', room_code: '123456', display_name: 'Li', preferred_lang: null },
  room_leave: { type: 'room_leave', room_code: '123456' },
  room_raw_voice_preference: {
    type: 'room_raw_voice_preference',
    room_code: '123456',
    target_session_id: 's-2',
    receive_raw_voice: false,
  },
  webrtc_offer: { type: 'webrtc_offer', room_code: '123456', to: 's-2', sdp: { type: 'offer', sdp: 'v=0' } },
  webrtc_answer: {
    type: 'webrtc_answer',
    room_code: '123456',
    to: 's-2',
    sdp: { type: 'answer', sdp: 'v=0' },
  },
  webrtc_ice: {
    type: 'webrtc_ice',
    room_code: '123456',
    to: 's-2',
    candidate: { candidate: '', sdpMid: null },
  },
  'webrtc_ice at the end of candidates': {
    type: 'webrtc_ice',
    room_code: '123456',
    to: 's-2',
    candidate: null,
  },
};

describe('legacy web client', () => {
  it.each(Object.entries(fromSession))('%s of a legacy client is accepted', (_, message) => {
    expect(parseSessionMessage(JSON.stringify(message))).toStrictEqual({
      kind: 'message',
      message: withoutNulls(message),
    });
  });
});
