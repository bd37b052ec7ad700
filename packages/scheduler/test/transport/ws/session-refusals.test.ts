/** Messages of a session that cannot be served: some close the socket, some only get an error. */
import { SESSION_TO_SCHEDULER } from '@lingua/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { INIT, startSessions, stopSessions } from './session-harness.ts';

afterEach(stopSessions);

describe('unusable session_init', () => {
  it.each([
    ['lacks a field', { tgt_lang: undefined }, '/tgt_lang'],
    ['has a field of the wrong type', { auto_langs: 'zh' }, '/auto_langs'],
    ['is contradictory', { src_lang: 'auto', mode: 'two_way_auto', lang_a: 'en' }, '/lang_b'],
  ])('a session_init that %s closes the socket', async (_, fields, path) => {
    const { sessions, connect } = await startSessions();
    const client = await connect();
    client.send({ ...INIT, ...fields });
    expect(await client.closed).toEqual({ code: 1008, reason: 'refused' });
    expect(client.received).toMatchObject([{ type: 'error', code: 'INVALID_MESSAGE', details: { path } }]);
    expect(sessions.openings).toEqual([]);
  });
});

describe('room message', () => {
  const types = SESSION_TO_SCHEDULER.map(({ properties }) => properties.type.const).filter((type) =>
    /^(room|webrtc)_/.test(type),
  );

  it('of a legacy client is never answered by an error, which it would show as an alert', async () => {
    const { connect } = await startSessions();
    const client = await connect();
    client.send(INIT);
    for (const type of types) client.send({ type, room_code: 7 });
    await client.message(types.length - 1);
    expect(new Set(client.received.map(({ type }) => type))).toEqual(new Set(['room_error']));
  });

  it('of a current client that is invalid is answered by an error with the field', async () => {
    const { connect } = await startSessions();
    const client = await connect();
    client.send({ ...INIT, supports: [] });
    client.send({ type: 'room_join', room_code: 7 });
    expect(await client.message(0)).toMatchObject({
      type: 'error',
      code: 'INVALID_MESSAGE',
      details: { path: '/room_code' },
    });
  });

  it('before session_init is refused', async () => {
    const { connect } = await startSessions();
    const client = await connect();
    client.send({ type: 'room_leave', room_code: 'r' });
    expect(await client.message(0)).toMatchObject({ type: 'error', code: 'INVALID_SESSION' });
  });
});

describe('refused audio', () => {
  const UTTERANCE = {
    type: 'utterance',
    session_id: 's-1',
    utterance_index: 7,
    manual_cut: true,
    src_lang: 'en',
    tgt_lang: 'zh',
    audio: 'AAAA',
    audio_format: 'pcm16',
    sample_rate: 16_000,
    request_id: 'req-1',
  };
  const CHUNK = {
    type: 'audio_chunk',
    session_id: 's-1',
    seq: 5,
    is_final: false,
    payload: 'AAAA',
    request_id: 'req-1',
  };
  const NAMED = { request_id: 'req-1', utterance_index: 7 };

  it.each([
    ['an unknown format', { audio_format: 'mp3' }, { path: '/audio_format', ...NAMED }],
    ['an impossible sample rate', { sample_rate: 12 }, { path: '/sample_rate', ...NAMED }],
    ['a stereo WAV', { audio_format: 'wav', audio: stereoWav() }, { path: '/audio', ...NAMED }],
    ['audio that is no base64', { audio: '*' }, { path: '/audio', ...NAMED }],
    ['no audio', { audio: '' }, { path: '/audio', ...NAMED }],
    ['no target language', { tgt_lang: undefined }, { path: '/tgt_lang', ...NAMED }],
    [
      'contradictory languages',
      { src_lang: 'auto', mode: 'two_way_auto', lang_a: 'en' },
      { path: '/lang_b', ...NAMED },
    ],
    ['an invalid request id', { request_id: 'a b' }, { path: '/request_id', utterance_index: 7 }],
  ])('an utterance with %s gets exactly one error, which names it', async (_, fields, details) => {
    const { sessions, connect } = await startSessions();
    const client = await connect();
    client.send({ ...INIT, supports: [] });
    client.send({ ...UTTERANCE, ...fields });
    client.send({ type: 'room_leave', room_code: 'r' });
    await client.message(1);
    const { hint: _hint, ...named } = (await client.message(0)).details as Record<string, unknown>;
    expect(named).toEqual(details);
    expect(client.received).toMatchObject([{ code: 'INVALID_MESSAGE' }, { code: 'NOT_IN_ROOM' }]);
    expect(sessions.received).toEqual([]);
  });

  it.each([
    ['a payload that is no base64', { payload: '*' }, '/payload', false],
    ['a flag of the wrong type', { is_final: 1 }, '/is_final', false],
    ['a payload of the wrong type', { payload: 7, is_final: true }, '/payload', true],
  ])('a chunk with %s is passed on as refused, and its session answers', async (_, fields, path, isFinal) => {
    const { sessions, connect } = await startSessions({ maxInvalidMessages: 0 });
    const client = await connect();
    client.send({ ...INIT, supports: [] });
    client.send({ ...CHUNK, ...fields });
    client.send({ type: 'room_leave', room_code: 'r' });
    await client.message(0);
    expect(client.received).toMatchObject([{ code: 'NOT_IN_ROOM' }]);
    expect(sessions.received.map(({ event }) => event)).toMatchObject([
      { kind: 'chunk', seq: 5, requestId: 'req-1', audio: undefined, isFinal, refusal: { path } },
    ]);
  });

  it.each([
    ['no number', { seq: undefined }, '/seq', {}],
    ['an invalid number', { seq: -1 }, '/seq', {}],
    ['an unknown session', { session_id: 'other', payload: '*' }, '/payload', { first_seq: 5, last_seq: 5 }],
  ])('a chunk with %s gets one error at once', async (_, fields, path, named) => {
    const { sessions, connect } = await startSessions();
    const client = await connect();
    client.send({ ...INIT, supports: [] });
    client.send({ ...CHUNK, ...fields });
    client.send({ type: 'room_leave', room_code: 'r' });
    await client.message(1);
    expect(client.received).toMatchObject([{ details: { path, ...named } }, { code: 'NOT_IN_ROOM' }]);
    expect(sessions.received).toEqual([]);
  });

  it('a refusal that names its audio does not use up the invalid messages', async () => {
    const { connect, cuts } = await startSessions({ maxInvalidMessages: 0 });
    const client = await connect();
    client.send({ ...INIT, supports: [] });
    for (const id of ['req-1', 'req-2', 'req-3'])
      client.send({ ...UTTERANCE, request_id: id, audio_format: 'mp3' });
    await client.message(2);
    expect(client.received.map((message) => (message as { details?: object }).details)).toMatchObject([
      { request_id: 'req-1' },
      { request_id: 'req-2' },
      { request_id: 'req-3' },
    ]);
    expect(cuts()).toBe(0);
  });
});

/** Two samples on two channels. */
function stereoWav(): string {
  const wav = Buffer.alloc(52);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(44, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(2, 22);
  wav.writeUInt32LE(16_000, 24);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(8, 40);
  return wav.toString('base64');
}
