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
  it.each(
    SESSION_TO_SCHEDULER.map(({ properties }) => properties.type.const).filter((type) =>
      /^(room|webrtc)_/.test(type),
    ),
  )('%s is unsupported with any fields, and not counted as invalid', async (type) => {
    const { connect, cuts } = await startSessions({ maxInvalidMessages: 0 });
    const client = await connect();
    client.send({ ...INIT, supports: [] });
    for (const fields of [{}, { room_code: 7 }, { room_code: 'r', client_ts: 1, to: 's-2', sdp: '' }]) {
      client.send({ type, ...fields });
    }
    await client.message(2);
    expect(client.received).toMatchObject(Array(3).fill({ type: 'error', code: 'UNSUPPORTED_FEATURE' }));
    expect(cuts()).toBe(0);
    client.send('nonsense');
    expect((await client.closed).reason).toBe('invalid_messages');
  });
});
