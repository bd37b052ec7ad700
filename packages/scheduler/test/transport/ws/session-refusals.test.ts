/** What a session sends and cannot be served: who is closed for it, and who is only told. */
import { SESSION_TO_SCHEDULER } from '@lingua/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { INIT, startSessions, stopSessions } from './session-harness.ts';

afterEach(stopSessions);

describe('a session_init', () => {
  it.each([
    ['misses a field', { tgt_lang: undefined }, '/tgt_lang'],
    ['has a field of another kind', { auto_langs: 'zh' }, '/auto_langs'],
    ['makes no sense', { src_lang: 'auto', mode: 'two_way_auto', lang_a: 'en' }, '/lang_b'],
  ])('that %s closes the socket, and its client is not left to wait', async (_, fields, path) => {
    const { sessions, connect } = await startSessions();
    const client = await connect();
    client.send({ ...INIT, ...fields });
    expect(await client.closed).toEqual({ code: 1008, reason: 'refused' });
    expect(client.received).toMatchObject([{ type: 'error', code: 'INVALID_MESSAGE', details: { path } }]);
    expect(sessions.openings).toEqual([]);
  });
});

describe('a message of rooms', () => {
  it.each(
    SESSION_TO_SCHEDULER.map(({ properties }) => properties.type.const).filter((type) =>
      /^(room|webrtc)_/.test(type),
    ),
  )('%s is not supported whatever its fields are, and no strike', async (type) => {
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
