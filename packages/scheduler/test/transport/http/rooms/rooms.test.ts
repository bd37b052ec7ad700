/** Rooms over HTTP: whose they are, what a guest may do, and how refusals are answered. */
import { describe, expect, it } from 'vitest';
import { bearer } from '../start-server.ts';
import { OTHER, SERVER, startRooms } from './scripted-rooms.ts';

async function startWithGuest(mint: object = {}) {
  const rooms = await startRooms();
  const minted = await rooms.post('/v1/rooms/room-1/tokens', mint, SERVER);
  return { ...rooms, minted, guest: bearer(minted.body.token) };
}

describe('rooms over HTTP', () => {
  it('a server opens a room with its settings, for its own tenant', async () => {
    const { post, calls } = await startRooms();
    const made = await post('/v1/rooms', { title: 'T', recorded: true, languages: ['pt-BR', 'es'] }, SERVER);
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({ room_id: 'room-1', room_code: 'abc-def', title: 'T', recorded: true });
    expect(calls).toEqual([
      [
        'create',
        { tenantId: 'acme', settings: { title: 'T', isRecorded: true, fixedLanguages: ['es', 'pt'] } },
      ],
    ]);
    const foreign = await post('/v1/rooms', { tenant_id: 'globex' }, SERVER);
    expect(foreign).toMatchObject({ status: 403, body: { error: 'FORBIDDEN', field: '/tenant_id' } });
  });

  it('shows a room by its id and by its code, with its members', async () => {
    const { get } = await startRooms();
    const { body } = await get('/v1/rooms/abc-def', SERVER);
    expect(body).toMatchObject({
      room_id: 'room-1',
      listeners: 2,
      members: [{ session_id: 's-1', display_name: 'Ana', role: 'host', speaks: 'es', hears: 'de' }],
    });
    expect((await get('/v1/rooms/room-1', SERVER)).body).toEqual(body);
    expect((await get('/v1/rooms', SERVER)).body).toMatchObject({
      rooms: [{ room_id: 'room-1', members: 1 }],
    });
  });

  it('R6 a room of another tenant does not exist', async () => {
    const { get, call, calls } = await startRooms();
    const refused = { status: 404, body: { error: 'NOT_FOUND' } };
    expect(await get('/v1/rooms/room-1', OTHER)).toMatchObject(refused);
    expect(await get('/v1/rooms/room-1/captions?lang=es', OTHER)).toMatchObject(refused);
    expect(await get('/v1/rooms/room-1/transcript?lang=es', OTHER)).toMatchObject(refused);
    expect(await call('PATCH', '/v1/rooms/room-1', { locked: true }, OTHER)).toMatchObject(refused);
    expect(await call('DELETE', '/v1/rooms/room-1', undefined, OTHER)).toMatchObject(refused);
    expect((await get('/v1/rooms', OTHER)).body).toEqual({ rooms: [] });
    expect(calls).toEqual([]);
  });

  it('changes what is named and leaves the rest, ends a room, and erases a member', async () => {
    const { call, calls } = await startRooms();
    const changed = await call('PATCH', '/v1/rooms/abc-def', { locked: true, languages: ['fr'] }, SERVER);
    expect(changed.body).toMatchObject({ locked: true, languages: ['fr'], recorded: false });
    const erased = await call('DELETE', '/v1/rooms/abc-def/members/s-1/texts', undefined, SERVER);
    expect(erased.body).toEqual({ ok: true, utterances: 2 });
    expect((await call('DELETE', '/v1/rooms/abc-def', undefined, SERVER)).body).toEqual({ ok: true });
    expect(calls).toEqual([
      ['change', 'acme', 'room-1', { isLocked: true, fixedLanguages: ['fr'] }],
      ['eraseMember', 'acme', 'room-1', 's-1'],
      ['end', 'acme', 'room-1'],
    ]);
  });

  it('a refusal of the service names the field and the cause', async () => {
    const { post } = await startRooms();
    expect(await post('/v1/rooms', { digit_code: true }, SERVER)).toMatchObject({
      status: 400,
      body: { error: 'INVALID_MESSAGE', field: '/digit_code', detail: 'no digit codes' },
    });
    expect(await post('/v1/rooms', { languages: ['not a language'] }, SERVER)).toMatchObject({
      status: 400,
      body: { field: '/languages/0' },
    });
  });
});

describe('guests', () => {
  it('R6 the token of a guest says its room, role and language, and opens nothing else', async () => {
    const { minted, guest, get, post, call } = await startWithGuest({ role: 'speaker', language: 'pt-BR' });
    expect(minted.body).toMatchObject({ role: 'speaker', room_id: 'room-1', room_code: 'abc-def' });
    expect((await get('/v1/whoami', guest)).status).toBeLessThan(500);
    expect((await get('/v1/rooms/room-1', guest)).body).toMatchObject({ room_id: 'room-1' });
    const forbidden = { status: 403, body: { error: 'FORBIDDEN' } };
    expect(await get('/v1/rooms/room-2', guest)).toMatchObject(forbidden);
    expect(await get('/v1/rooms', guest)).toMatchObject(forbidden);
    expect(await get('/v1/rooms/room-1/transcript?lang=es', guest)).toMatchObject(forbidden);
    expect(await call('PATCH', '/v1/rooms/room-1', { locked: true }, guest)).toMatchObject(forbidden);
    expect(await call('DELETE', '/v1/rooms/room-1', undefined, guest)).toMatchObject(forbidden);
    expect(await call('DELETE', '/v1/rooms/room-1/members/s-1/texts', undefined, guest)).toMatchObject(
      forbidden,
    );
    expect(await post('/v1/rooms', {}, guest)).toMatchObject(forbidden);
    expect(await post('/v1/rooms/room-1/tokens', {}, guest)).toMatchObject(forbidden);
  });

  it('a minted token of a user reads a room that it can name, and manages none', async () => {
    const { get, post, call, guessers } = await startRooms();
    const minted = await post('/v1/tokens', { user_id: 'u-1' }, SERVER);
    const user = bearer(minted.body.token);
    expect((await get('/v1/rooms/abc-def', user)).body).toMatchObject({ room_id: 'room-1' });
    expect((await get('/v1/rooms/wrong/captions?lang=es', user)).status).toBe(404);
    expect(guessers).toEqual(['127.0.0.1', '127.0.0.1']);
    expect((await get('/v1/rooms/wrong', SERVER)).status).toBe(404);
    expect(guessers).toHaveLength(2);
    const forbidden = { status: 403, body: { detail: expect.stringContaining('not manage') } };
    expect(await get('/v1/rooms', user)).toMatchObject(forbidden);
    expect(await get('/v1/rooms/room-1/transcript?lang=es', user)).toMatchObject(forbidden);
    expect(await call('DELETE', '/v1/rooms/room-1', undefined, user)).toMatchObject(forbidden);
  });

  it('only a token that may mint makes tokens of guests, and each is in the audit log', async () => {
    const { minted, audited, post } = await startWithGuest({ user_id: 'visitor-1' });
    expect(minted.body).toMatchObject({ user_id: 'visitor-1', role: 'listener' });
    const details = { minted_user_id: 'visitor-1', minted_role: 'listener', expires_in_seconds: 3_600 };
    expect(audited).toMatchObject([{ action: 'mintRoomToken', target: 'room-1', result: 'done', details }]);
    const unnamed = await post('/v1/rooms/room-1/tokens', { role: 'speaker' }, SERVER);
    expect(audited.at(-1)).toMatchObject({
      details: { minted_user_id: unnamed.body.user_id, minted_role: 'speaker' },
    });
    expect(await post('/v1/rooms/room-1/tokens', {}, OTHER)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('may_mint') },
    });
  });
});
