/** Invalid input of sessions: every frame is answered or dropped, within limits, and affects no other session. */
import { openSession as openSdkSession } from '@lingua/sdk/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { eventually } from '../support/eventually.ts';
import { connectLegacyNode, TRANSLATED } from './support/legacy-node.ts';
import { joinSdkNode } from './support/sdk-node.ts';
import {
  chunk,
  connectSession,
  INIT,
  openSession,
  pcm,
  refusedUpgrade,
  resume,
  sessionUrl,
  spoken,
  utterance,
} from './support/session-client.ts';
import { echo, holdEachJob } from './support/session-jobs.ts';
import { figure } from './support/session-metrics.ts';
import { QUICK } from './support/session-settings.ts';
import { type Settings, startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

async function startServed(settings: Settings = {}, onJob = echo) {
  const app = await startApp({ ...QUICK, ...settings });
  await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob });
  await app.readyNodes(1);
  const url = sessionUrl(app);
  return { app, url, session: await openSession({ url }) };
}

describe('a frame', () => {
  it.each([
    ['no JSON', 'nonsense'],
    ['no object', '[1]'],
    ['nothing', ''],
    ['without type', '{}'],
    ['of an unknown type', '{"type":"session_hug"}'],
    ['of a type every object has', '{"type":"constructor"}'],
    ['of the type __proto__', '{"type":"__proto__"}'],
    ['of another side', '{"type":"job_result"}'],
    ['deeply nested', `{"type":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
  ])('a frame that is %s gets INVALID_MESSAGE, and the session continues', async (_, text) => {
    const { session } = await startServed();
    session.sendText(text);
    expect(await session.next('error')).toMatchObject({ code: 'INVALID_MESSAGE' });
    session.send(spoken(session, 1));
    expect((await session.outcome()).type).toBe('translation_result');
  });

  it.each([
    ['base64 that does not decode', { payload: 'AAA*' }, '/payload'],
    ['base64 cut short', { payload: 'AAAAA' }, '/payload'],
    ['a negative seq', { seq: -1 }, '/seq'],
    ['a seq that is no number of JSON', { seq: 2 ** 53 }, '/seq'],
    ['is_final as a word', { is_final: 'yes' }, '/is_final'],
  ])('an audio frame with %s gets exactly one INVALID_MESSAGE', async (_, fields, path) => {
    const { session } = await startServed();
    session.send(chunk(session, 1));
    session.send(chunk(session, 2, fields));
    session.send(chunk(session, 3, { is_final: true, payload: '' }));
    expect(await session.next('error')).toMatchObject({ code: 'INVALID_MESSAGE', details: { path } });
    session.send(spoken(session, 4));
    expect((await session.outcome()).type).toBe('translation_result');
    expect(session.of('error')).toHaveLength(1);
  });

  it('a binary frame is refused', async () => {
    const { session } = await startServed();
    session.ws.send(Buffer.from(JSON.stringify(chunk(session, 1))));
    expect(await session.next('error')).toMatchObject({ code: 'INVALID_MESSAGE' });
    await session.handled();
  });

  it('an over-long frame ends only its connection', async () => {
    const { url, session } = await startServed({ 'server.limits.max_message_bytes': 65_536 });
    const other = await openSession({ url });
    session.send(chunk(session, 1, { payload: pcm(1, 60_000) }));
    expect((await session.closed).code).toBe(1009);
    expect(session.of('error')).toMatchObject([
      { code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining('65536 bytes') },
    ]);
    other.send(spoken(other, 1));
    expect((await other.outcome()).type).toBe('translation_result');
    const again = await resume(url, session);
    expect(again.frames[0]).toMatchObject({ session_id: session.sessionId(), resumed: true });
  });

  it('a client frame cannot change prototypes', async () => {
    const { url } = await startServed();
    const session = connectSession({ url });
    await session.opened();
    const evil = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}';
    const init = JSON.stringify(INIT).slice(0, -1);
    session.sendText(`${init},"features":{${evil},"emotion_detection":true},${evil}}`);
    await session.next('session_init_ack');
    const said = JSON.stringify(utterance(session, 0)).slice(0, -1);
    session.sendText(`${said},"pipeline":{"use_asr":true,"use_nmt":true,"use_tts":true,${evil}},${evil}}`);
    await session.outcome();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('a node frame cannot change prototypes', async () => {
    const app = await startApp(QUICK);
    const extra = JSON.parse('{"__proto__":{"polluted":1},"emotion":"calm"}') as Record<string, unknown>;
    connectLegacyNode({ url: app.nodeUrl, answer: () => ({ ...TRANSLATED, extra }) });
    await app.readyNodes(1);
    const session = await openSession({ url: sessionUrl(app) });
    session.send(spoken(session, 1));
    expect(await session.outcome()).toMatchObject({ extra: { emotion: 'calm' } });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('refused utterances of the client SDK', () => {
  it('every refused utterance is missing with the reason, and settled() resolves', async () => {
    const { app } = await startServed();
    const session = openSdkSession({ url: app.url, srcLang: 'en', tgtLang: 'zh', WebSocket });
    onTestFinished(() => session.close().then(() => {}));
    const answers: unknown[] = [];
    session.on('missing', ({ requestId, error }) => answers.push([requestId, error?.message]));
    session.on('result', ({ requestId }) => answers.push([requestId, 'translated']));
    const audio = new Uint8Array(64);
    const sent = [
      session.sendUtterance(audio, { audioFormat: 'wav' }),
      session.sendUtterance(audio, { audioFormat: 'mp3' as 'wav' }),
      session.sendUtterance(audio, { sampleRate: 12 }),
      session.sendUtterance(audio, { requestId: 'no id' }),
      session.sendUtterance(audio),
    ];
    await session.settled();
    expect(session.unsettledBytes).toBe(0);
    expect(answers).toEqual([
      [sent[0], expect.stringContaining('"audio" does not begin like a wav file')],
      [sent[1], expect.stringContaining('"audio_format" must be one of')],
      [sent[2], expect.stringContaining('"sample_rate" must be at least 1000')],
      [sent[3], expect.stringContaining('"request_id" must be 1 to 128')],
      [sent[4], 'translated'],
    ]);
  });
});

describe('an utterance above max_message_bytes', () => {
  it('an utterance above max_message_bytes is missing once, and the session goes on', async () => {
    const { app } = await startServed({ 'server.limits.max_message_bytes': 65_536 });
    const session = openSdkSession({ url: app.url, srcLang: 'en', tgtLang: 'zh', WebSocket });
    onTestFinished(() => session.close().then(() => {}));
    const answers: unknown[] = [];
    session.on('missing', ({ requestId, error }) => answers.push([requestId, error?.code]));
    session.on('result', ({ requestId }) => answers.push([requestId, 'translated']));
    const long = session.sendUtterance(new Uint8Array(60_000));
    // Sent in several messages, because the scheduler accepts no longer ones.
    session.sendAudio(new Uint8Array(60_000));
    session.sendAudio(new Uint8Array(60_000));
    const spoken = session.endUtterance();
    await session.settled();
    expect(answers).toEqual([
      [long, 'PAYLOAD_TOO_LARGE'],
      [spoken, 'translated'],
    ]);
  });

  it('a legacy client is told no limit', async () => {
    const { url } = await startServed();
    const session = connectSession({ url });
    await session.opened();
    const { supports: _, ...legacy } = INIT as Record<string, unknown>;
    await session.init(legacy as typeof INIT);
    expect(session.of('session_init_ack')[0]).not.toHaveProperty('max_message_bytes');
  });
});

describe('a connection', () => {
  it('a connection survives a bounded number of invalid frames', async () => {
    const { app, session } = await startServed({ 'server.limits.max_invalid_messages': 5 });
    for (let count = 0; count < 5; count += 1) session.sendText('nonsense');
    await session.handled();
    session.sendText('nonsense');
    expect((await session.closed).code).toBe(1008);
    expect(session.of('error')).toHaveLength(6);
    expect(await figure(app, 'scheduler_connections_cut_total{reason="invalid_messages"}')).toBe(1);
  });

  it('a connection over its rate is read more slowly without loss', async () => {
    const { session } = await startServed({
      'server.limits.messages_per_second': 50,
      'server.limits.messages_burst': 10,
    });
    for (let seq = 1; seq <= 40; seq += 1) session.send(chunk(session, seq, { is_final: seq === 40 }));
    expect(await session.next('error')).toMatchObject({ code: 'RATE_LIMITED' });
    expect(await session.next('utterance_accepted')).toMatchObject({ first_seq: 1, last_seq: 40 });
    expect(session.ws.readyState).toBe(session.ws.OPEN);
  });

  it('messages before session_init are refused', async () => {
    const { app, url } = await startServed();
    const session = connectSession({ url });
    await session.opened();
    session.send({ type: 'audio_chunk', session_id: 's-1', seq: 1, is_final: true, payload: pcm() });
    await session.init(INIT);
    await session.handled();
    expect(session.frames.map(({ type }) => type)).toEqual(['session_init_ack', 'server_heartbeat']);
    expect(await figure(app, 'scheduler_jobs_admitted_total')).toBe(0);
  });

  it('a message to an unknown session gets INVALID_SESSION', async () => {
    const { session } = await startServed();
    session.send(chunk(session, 1, { session_id: 's-nobody' }));
    expect(await session.next('error')).toMatchObject({ code: 'INVALID_SESSION' });
  });
});

describe('a tenant', () => {
  it('a missing or wrong token is 401, a node’s token 403', async () => {
    const app = await startApp(QUICK, TOKEN_TOML);
    const url = sessionUrl(app);
    expect((await refusedUpgrade(url)).status).toBe(401);
    expect((await refusedUpgrade(`${url}?token=wrong-token-0123456789`)).status).toBe(401);
    expect((await refusedUpgrade(`${url}?token=${TOKENS.node}`)).status).toBe(403);
    const session = await openSession({ url: `${url}?token=${TOKENS.client}` });
    await session.handled();
    expect(app.log.join('')).not.toContain(TOKENS.client);
  });

  it('the client SDK fails with UNAUTHORIZED for a token that is wrong, missing or of another role', async () => {
    const app = await startApp(QUICK, TOKEN_TOML);
    for (const token of ['wrong', undefined, TOKENS.node]) {
      const session = openSdkSession({ url: app.url, token, srcLang: 'en', tgtLang: 'zh', WebSocket });
      const errors: unknown[] = [];
      session.on('error', ({ code, isFatal }) => errors.push([code, isFatal]));
      await eventually(() => expect(session.state).toBe('failed'));
      expect(errors).toEqual([['UNAUTHORIZED', true]]);
    }
  });

  it('session_init for another tenant is FORBIDDEN and closes the socket', async () => {
    const app = await startApp(QUICK, TOKEN_TOML);
    const session = connectSession({ url: sessionUrl(app), token: TOKENS.client });
    await session.opened();
    session.send({ ...INIT, tenant_id: 'globex' });
    expect((await session.closed).code).toBe(1008);
    expect(session.frames).toMatchObject([
      { type: 'error', code: 'FORBIDDEN', details: { path: '/tenant_id' } },
    ]);
  });

  it('a tenant cannot read or stop another tenant’s session', async () => {
    const app = await startApp(QUICK, TOKEN_TOML);
    const each = holdEachJob();
    await joinSdkNode({ url: app.nodeUrl, token: TOKENS.node, onJob: each.onJob });
    await eventually(async () =>
      (await app.get<string>('/metrics', TOKENS.operator)).body.includes('"ready"} 1'),
    );
    const url = sessionUrl(app);
    const acme = await openSession({ url, token: TOKENS.client });
    const globex = await openSession({ url, token: TOKENS.otherClient });
    acme.send(spoken(acme, 1, 'req-same'));
    await each.job(1);
    const session_id = acme.sessionId();
    for (const frame of [
      { type: 'session_close', session_id, reason: 'malice' },
      { type: 'result_ack', session_id, delivery_seq: 1 },
      chunk(acme, 2),
      utterance(acme, 5),
      { type: 'client_heartbeat', session_id, timestamp: 1 },
    ])
      globex.send(frame);
    await globex.next('error', 5);
    // The same request_id of another tenant is another request.
    globex.send(spoken(globex, 1, 'req-same'));
    await each.job(2);
    each.finish(1);
    each.finish(2);
    expect((await acme.outcome()).job_id).not.toBe((await globex.outcome()).job_id);
    expect(globex.of('error').every(({ code }) => code === 'INVALID_SESSION')).toBe(true);
    await acme.handled();
    expect(acme.outcomes()).toHaveLength(1);
  });
});

describe('endless audio', () => {
  it('endless audio of a session is slowed down, then refused', async () => {
    const each = holdEachJob();
    const limits: Settings = {
      'scheduler.audio.max_bytes_per_session': 65_536,
      'scheduler.web_task_segmentation.max_bytes': 32_768,
    };
    const { app, session } = await startServed(limits, each.onJob);
    for (const seq of [1, 2, 3, 4, 5]) session.send(chunk(session, seq, { payload: pcm(seq, 15_000) }));
    expect(await session.next('error')).toMatchObject({ code: 'RATE_LIMITED', details: { seq: 5 } });
    const actions = session.of('backpressure').map(({ action }) => action);
    expect(actions[0]).toBe('SLOW_DOWN');
    await each.job(2);
    for (const count of [1, 2]) each.finish(count);
    await session.outcome(2);
    const heard = each.begun.map(({ audio }) => Buffer.from(audio, 'base64'));
    expect(Buffer.concat(heard)).toHaveLength(60_000);
    await eventually(async () => (await figure(app, 'scheduler_audio_store_bytes')) === 0);
    // Again from where it was refused.
    session.send(chunk(session, 5, { payload: pcm(5, 15_000) }));
    session.send(spoken(session, 6));
    await each.job(3);
    each.finish(3);
    expect((await session.outcome(3)).type).toBe('translation_result');
  });

  it('utterances over the limit end at once with RATE_LIMITED', async () => {
    const each = holdEachJob();
    const { session } = await startServed({ 'session.max_utterances': 2 }, each.onJob);
    for (const seq of [1, 2, 3]) session.send(spoken(session, seq));
    expect(await session.next('error')).toMatchObject({
      code: 'RATE_LIMITED',
      details: { utterance_index: 2 },
    });
    for (const count of [1, 2]) each.finish(count);
    await session.outcome(3);
    expect(session.outcomes().map(({ type }) => type)).toEqual([
      'translation_result',
      'translation_result',
      'missing_result',
    ]);
  });
});
