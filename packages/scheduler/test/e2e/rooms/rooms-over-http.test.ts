/** A room that a server opens over HTTP, people with the client SDK in it, and readers without a session. */
import type { EraseReply, JobsReply, RoomView, TranscriptReply } from '@lingua/protocol';
import { openSession, type Room } from '@lingua/sdk/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCuttableWebSocket } from '../../../src/cli/simulated-client/cuttable-web-socket.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunningApp, startApp } from '../support/start-app.ts';
import { joinNodes } from './support.ts';

async function startRoom() {
  const app = await startApp();
  await joinNodes(app.nodeUrl, ['recogniser', 'translator']);
  await app.readyNodes(2);
  const { body } = await app.post<RoomView>('/v1/rooms', { title: 'T', recorded: true, languages: ['fr'] });
  return { app, room: body };
}

async function enter(app: RunningApp, code: string, name: string, language: string) {
  const { WebSocket, cut } = createCuttableWebSocket();
  const session = openSession({ url: app.url, srcLang: 'en', tgtLang: language, WebSocket });
  onTestFinished(async () => void (await session.close()));
  const room: Room = await session.rooms.join(code, { name, hears: { language } });
  const shown: string[] = [];
  const ended: string[] = [];
  room.on('caption', ({ seq, text, speakerName }) => shown.push(`${seq} ${speakerName}: ${text}`));
  room.on('ended', ({ reason }) => ended.push(reason));
  return { session, room, shown, ended, cut };
}

function follow({ url }: RunningApp, roomId: string, language: string) {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  let text = '';
  const done = (async () => {
    const response = await fetch(`${url}/v1/rooms/${roomId}/captions?lang=${language}`, {
      signal: ending.signal,
    });
    const decoder = new TextDecoder();
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>)
      text += decoder.decode(part, { stream: true });
  })();
  done.catch(() => undefined);
  return { done, text: () => text };
}

describe('a room that a server has opened', () => {
  it('serves people of the SDK and readers of captions, and keeps its transcript', async () => {
    const { app, room } = await startRoom();
    const ana = await enter(app, room.room_code, 'Ana', 'en');
    const eva = await enter(app, room.room_code, 'Eva', 'es');
    expect(eva.room).toMatchObject({ title: 'T', isRecorded: true });
    expect(eva.room.people.map(({ name, isMe }) => [name, isMe])).toEqual([
      ['Ana', false],
      ['Eva', true],
    ]);
    const reader = follow(app, room.room_id, 'fr');
    ana.session.sendUtterance(Buffer.from('hello'));
    await eventually(() => eva.shown.length > 0 && reader.text().includes('hello>fr'));
    expect(eva.shown).toEqual(['1 Ana: hello>es']);

    const transcript = (language: string, format: string) =>
      app.get<TranscriptReply>(`/v1/rooms/${room.room_id}/transcript?lang=${language}&format=${format}`);
    expect((await transcript('es', 'json')).body.captions).toMatchObject([
      { room_seq: 1, speaker_name: 'Ana', text: 'hello>es', source: 'hello', source_lang: 'en' },
    ]);
    const srt = await fetch(`${app.url}/v1/rooms/${room.room_id}/transcript?lang=fr&format=srt`);
    expect(await srt.text()).toMatch(/^1\n00:00:00,000 --> .*\nAna: hello>fr\n$/);

    const { status } = await fetch(`${app.url}/v1/rooms/${room.room_id}`, { method: 'DELETE' });
    expect(status).toBe(200);
    await reader.done;
    expect(reader.text()).toContain('event: ended');
    await eventually(() => eva.ended.length > 0);
    expect(eva.ended).toEqual(['ended']);
    expect((await transcript('es', 'json')).body.captions).toHaveLength(1);
  });

  it('is not recorded and has no transcript where no texts are stored', async () => {
    const app = await startApp({ 'privacy.store_texts': false });
    expect(await app.post('/v1/rooms', { recorded: true })).toMatchObject({
      status: 403,
      body: { field: '/recorded', detail: expect.stringContaining('privacy.store_texts') },
    });
    const { body } = await app.post<RoomView>('/v1/rooms', {});
    expect(await app.get(`/v1/rooms/${body.room_id}/transcript?lang=en`)).toMatchObject({ status: 403 });
  });

  it('a person whose connection breaks gets what was said meanwhile, once', async () => {
    const { app, room } = await startRoom();
    const ana = await enter(app, room.room_code, 'Ana', 'en');
    const eva = await enter(app, room.room_code, 'Eva', 'es');
    const say = async (text: string) => {
      ana.session.sendUtterance(Buffer.from(text));
      await ana.session.settled();
    };
    await say('one');
    await eventually(() => eva.shown.length === 1);
    const lost = new Promise((resolve) => eva.session.on('disconnected', resolve));
    eva.cut();
    await lost;
    await say('two');
    await say('three');
    await eventually(() => eva.shown.length === 3);
    expect(eva.shown).toEqual(['1 Ana: one>es', '2 Ana: two>es', '3 Ana: three>es']);
    expect(eva.ended).toEqual([]);
    expect(eva.room.people.map(({ name, isMe }) => [name, isMe])).toEqual([
      ['Ana', false],
      ['Eva', true],
    ]);
  });

  it('what a person says while its connection is broken reaches the room', async () => {
    const { app, room } = await startRoom();
    const ana = await enter(app, room.room_code, 'Ana', 'en');
    const eva = await enter(app, room.room_code, 'Eva', 'es');
    const lost = new Promise((resolve) => ana.session.on('disconnected', resolve));
    ana.cut();
    await lost;
    ana.session.sendUtterance(Buffer.from('hello'));
    await ana.session.settled();
    await eventually(() => eva.shown.length > 0);
    expect(eva.shown).toEqual(['1 Ana: hello>es']);
  });

  it('a member that is erased has said nothing', async () => {
    const { app, room } = await startRoom();
    const ana = await enter(app, room.room_code, 'Ana', 'en');
    ana.session.sendUtterance(Buffer.from('hello'));
    const transcript = async () =>
      (await app.get<TranscriptReply>(`/v1/rooms/${room.room_id}/transcript?lang=fr`)).body.captions;
    await eventually(async () => (await transcript()).some(({ text }) => text === 'hello>fr'));
    const path = `/v1/rooms/${room.room_id}/members/${ana.session.sessionId}/texts`;
    const erased = await fetch(app.url + path, { method: 'DELETE' });
    expect(await erased.json()).toEqual({ ok: true, utterances: 1 });
    expect(await transcript()).toEqual([]);
  });

  it('an erased job has no texts in the room; an erased session has none, also after the room has ended', async () => {
    const { app, room } = await startRoom();
    const ana = await enter(app, room.room_code, 'Ana', 'en');
    const eva = await enter(app, room.room_code, 'Eva', 'es');
    const texts = async () => {
      const path = `/v1/rooms/${room.room_id}/transcript?lang=fr`;
      return (await app.get<TranscriptReply>(path)).body.captions.map(({ text }) => text);
    };
    for (const [at, words] of ['one', 'two', 'three'].entries()) {
      ana.session.sendUtterance(Buffer.from(words));
      await eventually(async () => (await texts()).length > at);
    }
    eva.session.sendUtterance(Buffer.from('four'));
    await eventually(async () => (await texts()).length > 3);
    const { body } = await app.get<JobsReply>(`/api/v1/jobs?session_id=${ana.session.sessionId}`);
    const job = body.jobs.at(-1)?.job_id;
    expect((await app.remove<EraseReply>(`/v1/job/${job}`)).body).toMatchObject({
      room_utterances: 1,
      done: true,
    });
    expect((await texts()).sort()).toEqual(['four>fr', 'three>fr', 'two>fr']);

    await ana.session.close();
    await app.remove(`/v1/rooms/${room.room_id}`);
    await eventually(() => eva.ended.length > 0);
    expect(await texts()).toHaveLength(3);
    const path = `/v1/sessions/${ana.session.sessionId}`;
    expect((await app.remove<EraseReply>(path)).body).toMatchObject({ room_utterances: 2, done: true });
    expect(await texts()).toEqual(['four>fr']);
    expect((await app.remove<EraseReply>(path)).body).toMatchObject({ room_utterances: 0 });
  });
});
