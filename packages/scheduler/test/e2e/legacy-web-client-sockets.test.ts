/** Connections of the legacy web client: several sockets at once, refusals with back-off, pages of any origin. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { connectLegacyNode } from './support/legacy-node.ts';
import { holdJobs, joinSdkNode } from './support/sdk-node.ts';
import { connectSession, refusedUpgrade, sessionUrl } from './support/session-client.ts';
import { figure } from './support/session-metrics.ts';
import { QUICK } from './support/session-settings.ts';
import { type Settings, startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';
import { openWebClient, WEB_INIT } from './support/web-client.ts';

async function startWithNode(settings: Settings = {}) {
  const app = await startApp({ ...QUICK, ...settings });
  const node = connectLegacyNode({ url: app.nodeUrl });
  await app.readyNodes(1);
  return { app, node, url: sessionUrl(app) };
}

describe('second socket of the legacy web client', () => {
  it('the first socket stays open without client_heartbeat', async () => {
    const { url } = await startWithNode({ 'server.ping_interval_ms': 1_000 });
    const first = await openWebClient({ url });
    let pings = 0;
    first.ws.on('ping', () => {
      pings += 1;
    });
    const second = await openWebClient({ url });
    await eventually(() => pings >= 2);
    expect([first.ws.readyState, second.ws.readyState]).toEqual([first.ws.OPEN, first.ws.OPEN]);
    for (const web of [second, first]) {
      web.speak();
      web.letGo();
      expect((await web.outcome()).type).toBe('translation_result');
    }
    expect(first.frames.every(({ session_id: id }) => id === first.sessionId())).toBe(true);
  });

  it("the second socket may send audio for the first socket's session", async () => {
    const { url, node } = await startWithNode();
    const [first, second] = [await openWebClient({ url }), await openWebClient({ url })];
    first.speak(1);
    await first.handled();
    second.speak(2, first.sessionId());
    second.letGo(first.sessionId());
    expect(await first.outcome()).toMatchObject({ session_id: first.sessionId(), utterance_index: 0 });
    const audio = Buffer.from(node.jobs[0]?.audio ?? '', 'base64');
    expect([audio.at(2), audio.at(-1)]).toEqual([1, 2]);
    await second.handled();
    expect(second.outcomes()).toEqual([]);
  });

  it("the end of the second socket does not end the first one's session", async () => {
    const { url } = await startWithNode();
    const [first, second] = [await openWebClient({ url }), await openWebClient({ url })];
    second.cut();
    await second.closed;
    first.speak();
    first.letGo();
    expect((await first.outcome()).type).toBe('translation_result');
  });

  it('another credential cannot reach the session, and gets no error', async () => {
    const app = await startApp(QUICK, TOKEN_TOML);
    const url = sessionUrl(app);
    const acme = await openWebClient({ url, token: TOKENS.client });
    const globex = await openWebClient({ url, token: TOKENS.otherClient });
    const before = acme.frames.length;
    globex.speak(1, acme.sessionId());
    globex.letGo(acme.sessionId());
    globex.send({ type: 'session_close', session_id: acme.sessionId(), reason: 'malice' });
    await globex.handled();
    await acme.handled();
    expect(acme.frames.slice(before).map(({ type }) => type)).toEqual(['server_heartbeat']);
    expect(globex.alerts()).toEqual([]);
    const { body } = await app.get<string>('/metrics', TOKENS.operator);
    expect(body).toContain('scheduler_session_messages_dropped_total{reason="unknown_session"} 3');
  });
});

describe('legacy web client that cannot be served', () => {
  it('the upgrade gets 503 when all sessions are in use', async () => {
    const { app, url } = await startWithNode({ 'session.max_sessions': 1 });
    const web = await openWebClient({ url });
    expect(await refusedUpgrade(url)).toMatchObject({ status: 503, body: { error: 'RATE_LIMITED' } });
    expect(await figure(app, 'scheduler_connections_refused_total{reason="full"}')).toBe(1);
    web.cut();
    await eventually(async () => (await figure(app, 'scheduler_sessions{state="connected"}')) === 0);
    expect((await openWebClient({ url })).frames).toHaveLength(1);
  });

  it('the upgrade gets 503 at the connection limit', async () => {
    const app = await startApp({ ...QUICK, 'server.limits.max_connections': 1 });
    const url = sessionUrl(app);
    await openWebClient({ url });
    expect((await refusedUpgrade(url)).status).toBe(503);
  });

  it('a draining instance refuses with 503 and serves open sessions', async () => {
    const app = await startApp({ ...QUICK, 'server.drain_timeout_ms': 10_000 });
    const held = holdJobs();
    await joinSdkNode({ url: app.nodeUrl, onJob: held.onJob });
    await app.readyNodes(1);
    const url = sessionUrl(app);
    const web = await openWebClient({ url });
    web.speak();
    web.letGo();
    await held.job();
    const stopped = app.app.stop();
    expect(await refusedUpgrade(url)).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
    // The client does not support server_draining, so it gets PAUSE.
    expect(await web.next('backpressure')).toMatchObject({ action: 'PAUSE', resume_after_ms: 10_000 });
    held.finish();
    expect((await web.outcome()).type).toBe('translation_result');
    expect((await web.closed).code).toBe(1012);
    await stopped;
    expect(web.alerts()).toEqual([]);
  });

  it.each([
    ['an invalid target language', { tgt_lang: 'auto' }, 'INVALID_MESSAGE', 1008],
    ['half a pair', { lang_b: null }, 'INVALID_MESSAGE', 1008],
    ['a tenant that requires a token', { tenant_id: 'acme' }, 'FORBIDDEN', 1008],
  ])('a session_init with %s gets one error and a closed socket', async (_, fields, code, closed) => {
    const app = await startApp(QUICK, `${TOKEN_TOML}\n[server]\nanonymous = ["session"]\n`);
    const web = connectSession({ url: sessionUrl(app) });
    await web.opened();
    web.send({ ...WEB_INIT, ...fields });
    expect((await web.closed).code).toBe(closed);
    expect(web.frames).toMatchObject([{ type: 'error', code }]);
  });

  it('a socket is closed when the last session slot was just taken', async () => {
    const { url } = await startWithNode({ 'session.max_sessions': 1 });
    const sockets = [connectSession({ url }), connectSession({ url })];
    for (const socket of sockets) await socket.opened();
    await sockets[0]?.init(WEB_INIT);
    sockets[1]?.send(WEB_INIT);
    expect((await sockets[1]?.closed)?.code).toBe(1013);
    expect(sockets[1]?.frames).toMatchObject([{ type: 'error', code: 'RATE_LIMITED' }]);
  });
});

describe('origin of the legacy web client', () => {
  it('a page of the same host, on any port, needs no query, token and subprotocol', async () => {
    const { url } = await startWithNode();
    for (const origin of ['http://127.0.0.1:9001', 'https://127.0.0.1']) {
      const web = await openWebClient({ url, socket: { origin } });
      expect(web.ws.protocol).toBe('');
    }
    expect(new URL(url)).toMatchObject({ search: '', hostname: '127.0.0.1' });
  });

  it('a page of another host must be listed', async () => {
    const app = await startApp(QUICK, '[server]\nallowed_origins = ["http://localhost:9001"]\n');
    const url = sessionUrl(app);
    await openWebClient({ url, socket: { origin: 'http://localhost:9001' } });
    expect(await refusedUpgrade(url, { origin: 'http://localhost:9002' })).toMatchObject({
      status: 403,
      body: { error: 'FORBIDDEN' },
    });
  });
});
