/** A room over real sockets: one instance, simulated nodes. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { perform } from '../support/stage-nodes.ts';
import { startApp } from '../support/start-app.ts';
import { connectMember, createRoom, joinNodes, joinRoom } from './support.ts';

const EN = { speaks: 'en', hears: 'en' };
const ES = { speaks: 'en', hears: 'es' };
const FR = { speaks: 'en', hears: 'fr' };

async function startRoom(settings: Parameters<typeof startApp>[0] = {}, onJob = perform) {
  const app = await startApp(settings);
  const [recogniser, translator] = await joinNodes(app.nodeUrl, ['recogniser', 'translator'], { onJob });
  await app.readyNodes(2);
  const host = await connectMember(app, EN);
  const code = await createRoom(host);
  await host.next('room_state');
  return { app, host, code, recogniser, translator };
}

describe('a room', () => {
  it('R1, R4: recognises an utterance once and shows each member its language', async () => {
    const { app, host, code, recogniser, translator } = await startRoom();
    const es = await connectMember(app, ES);
    const fr = await connectMember(app, FR);
    const en = await connectMember(app, EN);
    for (const member of [es, fr, en]) await joinRoom(member, code);
    host.say('hello');
    expect(await es.shown(1)).toEqual(['1 es hello>es']);
    expect(await fr.shown(1)).toEqual(['1 fr hello>fr']);
    expect(await en.shown(1)).toEqual(['1 en hello']);
    expect(await host.outcome()).toMatchObject({ type: 'translation_result', text_asr: 'hello' });
    expect(host.captions()).toEqual([]);
    expect(recogniser?.jobs).toHaveLength(1);
    expect(translator?.jobs.map(({ tgt_lang }) => tgt_lang).sort()).toEqual(['es', 'fr']);
  });

  it('R3: translates into no language that nobody hears', async () => {
    const { host, translator, recogniser } = await startRoom();
    host.say('hello');
    expect(await host.outcome()).toMatchObject({ text_asr: 'hello' });
    expect(recogniser?.jobs).toHaveLength(1);
    expect(translator?.jobs).toHaveLength(0);
  });

  it('R2: one language that fails does not concern the others, and shows the source text', async () => {
    const { app, host, code } = await startRoom({ 'scheduler.max_retry': 0 }, (job, context) => {
      if (job.tgt_lang === 'es') throw new Error('no such word');
      return perform(job, context);
    });
    const es = await connectMember(app, ES);
    const fr = await connectMember(app, FR);
    for (const member of [es, fr]) await joinRoom(member, code);
    host.say('hello');
    expect(await fr.shown(1)).toEqual(['1 fr hello>fr']);
    expect(await es.shown(1)).toEqual(['1 es hello!']);
  });

  it('a late translation is shown in its source language and corrected; the others go on', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { app, host, code } = await startRoom({ 'rooms.reorder_ms': 50 }, async (job, context) => {
      if (job.input_text === 'one') await released;
      return perform(job, context);
    });
    const es = await connectMember(app, ES);
    await joinRoom(es, code);
    host.say('one');
    await host.outcome();
    host.say('two');
    expect(await es.shown(2)).toEqual(['1 es one…', '2 es two>es']);
    release();
    expect(await es.shown(3)).toEqual(['1 es one…', '2 es two>es', '1 es one>es']);
    expect(es.of('room_caption').map(({ rev }) => rev)).toEqual([0, 0, 1]);
  });

  it('who joins late gets what was said; who comes back gets the rest', async () => {
    const { app, host, code } = await startRoom();
    const es = await connectMember(app, ES);
    await joinRoom(es, code);
    host.say('one');
    await es.shown(1);
    host.say('two');
    await es.shown(2);
    const late = await connectMember(app, ES);
    expect(await joinRoom(late, code)).toMatchObject({ room_seq: 2, recorded: false });
    expect(await late.shown(2)).toEqual(['1 es one>es', '2 es two>es']);
    const rest = await connectMember(app, ES);
    await joinRoom(rest, code, { after_seq: 1 });
    expect(await rest.shown(1)).toEqual(['2 es two>es']);
  });

  it('a host mutes, locks, removes and ends', async () => {
    const { app, host, code } = await startRoom();
    const es = await connectMember(app, ES);
    await joinRoom(es, code);
    const moderate = (fields: object) => host.send({ type: 'room_moderate', room_code: code, ...fields });
    moderate({ action: 'mute', member: es.sessionId() });
    expect(await es.next('room_notice')).toMatchObject({ code: 'muted' });
    es.say('let me speak');
    expect(await es.next('error')).toMatchObject({ code: 'FORBIDDEN' });
    moderate({ action: 'lock' });
    await host.handled();
    const third = await connectMember(app, FR);
    third.send({ type: 'room_join', room_code: code });
    expect(await third.next('room_error')).toMatchObject({ code: 'ROOM_LOCKED' });
    es.send({ type: 'room_moderate', room_code: code, action: 'unlock' });
    expect(await es.next('room_error')).toMatchObject({ code: 'FORBIDDEN' });
    moderate({ action: 'remove', member: es.sessionId() });
    expect(await es.next('room_notice', 2)).toMatchObject({ code: 'removed' });
    moderate({ action: 'end' });
    expect(await host.next('room_expired')).toMatchObject({ room_code: code });
  });

  it('R6: the code of another tenant opens nothing, and wrong codes are limited', async () => {
    const { app, code } = await startRoom({ 'rooms.max_wrong_codes_per_minute': 2 });
    const stranger = await connectMember(app, EN, { tenant_id: 'other' });
    for (const [count, refused] of ['ROOM_NOT_FOUND', 'ROOM_NOT_FOUND', 'RATE_LIMITED'].entries()) {
      stranger.send({ type: 'room_join', room_code: code });
      expect(await stranger.next('room_error', count + 1)).toMatchObject({ code: refused });
    }
  });

  it('changes of the members come as deltas', async () => {
    const { app, host, code } = await startRoom();
    const es = await connectMember(app, ES);
    await joinRoom(es, code, { display_name: 'Eva' });
    await eventually(() => host.of('room_delta').length > 0);
    expect(host.of('room_delta')[0]).toMatchObject({
      members: expect.arrayContaining([
        expect.objectContaining({ display_name: 'Eva', role: 'speaker', hears: 'es' }),
      ]),
      left: [],
      languages: { en: 'ok', es: 'ok' },
    });
  });

  it('speech comes to members that want it', async () => {
    const app = await startApp();
    await joinNodes(app.nodeUrl, ['recogniser', 'translator', 'speaker']);
    await app.readyNodes(3);
    const host = await connectMember(app, EN);
    const code = await createRoom(host);
    const es = await connectMember(app, ES);
    await joinRoom(es, code, { hears: { lang: 'es', voice: true } });
    host.say('hello');
    expect(await es.next('room_voice')).toMatchObject({ room_seq: 1, lang: 'es', tts_format: 'pcm16' });
    expect(es.captions()).toEqual(['1 es hello>es']);
  });
});
