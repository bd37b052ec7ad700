/** Credentials, roles, limits, and secrets. */
import { get } from 'node:http';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { eventually } from '../support/eventually.ts';
import { ensureBuilt } from './support/ensure-built.ts';
import { lingua } from './support/lingua.ts';
import { AUDIO, type RunningApp, startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

const UTTERANCE = { session_id: 'room-1', src_lang: 'en', tgt_lang: 'zh', audio: AUDIO };
const NODE = { node_id: 'node-a', health: 'ready', semantic_langs: ['en', 'zh'], max_concurrent_jobs: 50 };

/** The result of an upgrade: open, or the status of its refusal. */
function knock(
  app: RunningApp,
  token?: string,
  how: 'header' | 'query' = 'header',
): Promise<number | 'open'> {
  const url = how === 'query' && token !== undefined ? `${app.nodeUrl}?token=${token}` : app.nodeUrl;
  const headers = how === 'header' && token !== undefined ? { authorization: `Bearer ${token}` } : {};
  return dial(url, headers).outcome;
}

function dial(url: string, headers: Record<string, string> = {}) {
  const ws = new WebSocket(url, { headers });
  onTestFinished(() => ws.terminate());
  const frames: Record<string, unknown>[] = [];
  let closeCode: number | undefined;
  ws.on('message', (data) => frames.push(JSON.parse(data.toString()) as Record<string, unknown>));
  ws.on('close', (code) => {
    closeCode = code;
  });
  const outcome = new Promise<number | 'open'>((resolve, reject) => {
    ws.on('open', () => resolve('open'));
    ws.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    ws.on('error', reject);
  });
  return { ws, outcome, frames, closeCode: () => closeCode };
}

describe('server that is reachable from outside', () => {
  beforeAll(ensureBuilt, 150_000);

  it('the server refuses to start without credentials, with advice', async () => {
    const server = lingua(['serve', '--host', '0.0.0.0', '--port', '0']);
    expect(await server.ended).toEqual({ code: 2, signal: null });
    for (const word of [
      '0.0.0.0',
      '[[server.tokens]]',
      'server.anonymous',
      'server.trusted_networks',
      '127.0.0.1',
    ]) {
      expect(server.err()).toContain(word);
    }
  });

  it('the server starts with a token', async () => {
    const server = lingua(['serve', '--port', '0'], {
      LINGUA_SERVER__HOST: '0.0.0.0',
      LINGUA_SERVER__TOKENS: JSON.stringify([{ token: TOKENS.operator, role: 'operator' }]),
    });
    expect(await server.url()).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
  });
});

describe('DNS rebinding with server.anonymous', () => {
  const ANONYMOUS =
    '[server]\nanonymous = ["session", "node", "operator"]\nallowed_hosts = ["speech.example"]\n';
  const ask = (app: RunningApp, host: string, origin?: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { host, ...(origin !== undefined && { origin }) };
      get(`${app.url}/api/v1/nodes`, { headers }, (reply) => resolve(reply.resume().statusCode)).on(
        'error',
        reject,
      );
    });

  it('a page whose name points here may use neither HTTP nor sockets', async () => {
    const app = await startApp({}, ANONYMOUS);
    const sessionUrl = app.nodeUrl.replace('/ws/node', '/ws/session');
    const rebound = { host: 'evil.example', origin: 'http://evil.example' };
    expect(await ask(app, rebound.host, rebound.origin)).toBe(403);
    expect(await ask(app, rebound.host)).toBe(403);
    for (const url of [app.nodeUrl, sessionUrl]) expect(await dial(url, rebound).outcome).toBe(403);
    expect(await ask(app, 'speech.example:5010', 'http://speech.example:9001')).toBe(200);
    const own = { host: 'speech.example', origin: 'https://speech.example' };
    for (const url of [app.nodeUrl, sessionUrl]) expect(await dial(url, own).outcome).toBe('open');
  });
});

describe('tokens', () => {
  it.each([
    ['nobody', undefined, [401, 401, 401, 200]],
    ['a wrong token', 'wrong-token-0123456789', [401, 401, 401, 200]],
    ['a node', TOKENS.node, [200, 403, 403, 200]],
    ['a client', TOKENS.client, [403, 200, 403, 200]],
    ['an operator', TOKENS.operator, [200, 200, 200, 200]],
  ] as const)('over HTTP %s may use only its role', async (_who, token, expected) => {
    const app = await startApp({}, TOKEN_TOML);
    await app.post('/v1/node/register', { ...NODE, node_id: 'node-z' }, TOKENS.node);
    const answers = [
      await app.post('/v1/node/register', NODE, token),
      await app.post('/v1/dispatch/f2f', UTTERANCE, token),
      await app.get('/api/v1/nodes', token),
      await app.get('/health/ready', token),
    ];
    expect(answers.map(({ status }) => status)).toEqual(expected);
    const [first] = answers;
    if (first?.status === 401) expect(first.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('only nodes and operators may open /ws/node, by header or query', async () => {
    const app = await startApp({}, TOKEN_TOML);
    expect(await knock(app)).toBe(401);
    expect(await knock(app, 'wrong-token-0123456789')).toBe(401);
    expect(await knock(app, TOKENS.client)).toBe(403);
    expect(await knock(app, TOKENS.node)).toBe('open');
    expect(await knock(app, TOKENS.node, 'query')).toBe('open');
    expect(await knock(app, TOKENS.operator)).toBe('open');
  });

  it('clients may read neither metrics nor lists', async () => {
    const app = await startApp({}, TOKEN_TOML);
    for (const path of ['/metrics', '/api/v1/nodes', '/api/v1/jobs']) {
      expect((await app.get(path, TOKENS.client)).status).toBe(403);
      expect((await app.get(path, TOKENS.operator)).status).toBe(200);
    }
  });

  it('a pinned token may use only its node ids', async () => {
    const app = await startApp({}, TOKEN_TOML);
    expect((await app.post('/v1/node/register', NODE, TOKENS.pinned)).status).toBe(403);
    const own = { ...NODE, node_id: 'node-pinned' };
    expect((await app.post('/v1/node/register', own, TOKENS.pinned)).status).toBe(200);
    const beat = { node_id: 'node-pinned', health: 'ready' };
    expect((await app.post('/v1/node/heartbeat', beat, TOKENS.node)).status).toBe(403);
    const ack = { job_id: 'job-1', attempt_id: 1, node_id: 'node-pinned' };
    expect((await app.post('/v1/job/ack', ack, TOKENS.node)).status).toBe(403);
    expect((await app.get('/v1/node/node-pinned/jobs', TOKENS.node)).status).toBe(403);
  });

  it('old and new token are both valid during a rotation', async () => {
    const app = await startApp({}, TOKEN_TOML);
    await app.post('/v1/node/register', NODE, TOKENS.node);
    const jobs = await Promise.all(
      [TOKENS.client, TOKENS.rotated].map((token) => app.post('/v1/dispatch/f2f', UTTERANCE, token)),
    );
    expect(jobs.map(({ status }) => status)).toEqual([200, 200]);
    const path = `/v1/job/${jobs[0]?.body.job_id}`;
    expect((await app.get(path, TOKENS.rotated)).status).toBe(200);
  });

  it('tokens never appear in the log', async () => {
    const app = await startApp({ 'log.level': 'debug' }, TOKEN_TOML);
    await app.post('/v1/node/register', NODE, TOKENS.node);
    await app.post('/v1/dispatch/f2f', UTTERANCE, TOKENS.client);
    await app.get(`/v1/job/nothing?token=${TOKENS.client}`, TOKENS.operator);
    await knock(app, TOKENS.node, 'query');
    await knock(app, 'wrong-token-0123456789', 'query');
    await eventually(() => app.log.some((line) => line.includes('a socket was refused')));
    expect(app.log.length).toBeGreaterThan(3);
    const log = app.log.join('');
    for (const token of [...Object.values(TOKENS), 'wrong-token-0123456789'])
      expect(log).not.toContain(token);
  });
});

describe('tenants (I10)', () => {
  it("I10: a tenant never sees another tenant's jobs", async () => {
    const app = await startApp({}, TOKEN_TOML);
    await app.post('/v1/node/register', NODE, TOKENS.node);
    const { body } = await app.post('/v1/dispatch/f2f', { ...UTTERANCE, request_id: 'req-1' }, TOKENS.client);
    const path = `/v1/job/${body.job_id}`;
    expect((await app.get(path, TOKENS.client)).body).toMatchObject({ tenant_id: 'acme' });
    for (const answer of [
      await app.get(path, TOKENS.otherClient),
      await app.get(`${path}?wait_ms=1000`, TOKENS.otherClient),
      await app.get(`${path}/events`, TOKENS.otherClient),
      await app.post(`${path}/cancel`, {}, TOKENS.otherClient),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { error: 'NOT_FOUND' } });
    }
    // The same request_id of another tenant is another job.
    const other = await app.post(
      '/v1/dispatch/f2f',
      { ...UTTERANCE, request_id: 'req-1' },
      TOKENS.otherClient,
    );
    expect(other.status).toBe(200);
    expect(other.body.job_id).not.toBe(body.job_id);
    expect((await app.get(path, TOKENS.operator)).status).toBe(200);
  });

  it("I10: a token's tenant cannot name another one", async () => {
    const app = await startApp({}, TOKEN_TOML);
    await app.post('/v1/node/register', NODE, TOKENS.node);
    const wish = { ...UTTERANCE, tenant_id: 'globex' };
    expect(await app.post('/v1/dispatch/f2f', wish, TOKENS.client)).toMatchObject({
      status: 403,
      body: { error: 'FORBIDDEN', field: '/tenant_id' },
    });
  });
});

describe('web page of another origin', () => {
  it('a page of another origin may not act without a token', async () => {
    const app = await startApp();
    const page = { origin: 'https://evil.example' };
    expect(await dial(app.nodeUrl, page).outcome).toBe(403);
    const response = await fetch(`${app.url}/api/v1/nodes/node-a/drain`, { method: 'POST', headers: page });
    expect(response.status).toBe(403);
  });

  it('a page with a rebound host name is refused', async () => {
    const app = await startApp();
    expect(await dial(app.nodeUrl, { host: 'evil.example' }).outcome).toBe(403);
  });
});

describe('limits', () => {
  it('a socket above max_connections gets 503, while HTTP still works', async () => {
    const app = await startApp({ 'server.limits.max_connections': 2 });
    expect([await knock(app), await knock(app)]).toEqual(['open', 'open']);
    expect(await knock(app)).toBe(503);
    expect((await app.get('/health/live')).status).toBe(200);
  });

  it('a message that is too long closes the socket with a reason', async () => {
    const app = await startApp({ 'server.limits.max_node_message_bytes': 2_048 });
    const { ws, outcome, frames, closeCode } = dial(app.nodeUrl);
    await outcome;
    ws.send(JSON.stringify({ type: 'node_error', padding: 'x'.repeat(4_096) }));
    await eventually(() => closeCode() === 1009);
    expect(frames).toMatchObject([{ type: 'error', code: 'PAYLOAD_TOO_LARGE' }]);
  });

  it('a body that is too long gets 413', async () => {
    const app = await startApp({ 'server.limits.max_message_bytes': 32_768 });
    const { status, body } = await app.tryDispatch({ audio: 'A'.repeat(65_536) });
    expect([status, body.error]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('messages above the rate are dropped, then the socket is closed', async () => {
    const app = await startApp({ 'server.limits.messages_per_second': 1, 'server.limits.messages_burst': 5 });
    const { ws, outcome, frames, closeCode } = dial(app.nodeUrl);
    await outcome;
    const beat = JSON.stringify({ type: 'node_heartbeat', node_id: 'n', timestamp: 1, resource_usage: {} });
    for (let count = 0; count < 20; count++) ws.send(beat);
    await eventually(() => closeCode() === 1008);
    expect(frames.filter(({ code }) => code === 'RATE_LIMITED')).toHaveLength(1);
  });

  it('a tenant above its request rate gets 429, others are served', async () => {
    const app = await startApp({ 'server.limits.requests_per_second_per_tenant': 3 }, TOKEN_TOML);
    await app.post('/v1/node/register', NODE, TOKENS.node);
    const burst = await Promise.all(
      Array.from({ length: 12 }, () => app.post('/v1/dispatch/f2f', UTTERANCE, TOKENS.client)),
    );
    const limited = burst.find(({ status }) => status === 429);
    expect(limited?.body).toMatchObject({ error: 'RATE_LIMITED' });
    expect(limited?.headers.get('retry-after')).toBe('1');
    expect((await app.post('/v1/dispatch/f2f', UTTERANCE, TOKENS.otherClient)).status).toBe(200);
  });
});
