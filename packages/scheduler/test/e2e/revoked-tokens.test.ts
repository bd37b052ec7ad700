/** What a token holds open ends when a reload takes its rights: long polls, event streams, the polls of nodes, and nodes of dedicated pools. */
import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { metricsPage } from './support/metrics-page.ts';
import { joinPooledNode, poolCapabilities, poolsToml } from './support/pooled-nodes.ts';
import { AUDIO, type RunningApp, startApp } from './support/start-app.ts';

const tokenOf = (name: string): string => `${name}-token-0123456789`;
const row = (name: string, role: string, ...lines: string[]): string =>
  ['[[server.tokens]]', `token = "${tokenOf(name)}"`, `role = "${role}"`, ...lines, ''].join('\n');

const ADMIN = row('admin', 'admin');
const ACME = 'tenant_id = "acme"';
const WAIT = 'wait_ms=60000';
const UTTERANCE = { session_id: 'room-1', src_lang: 'en', tgt_lang: 'zh', audio: AUDIO };
const PULL_NODE = { node_id: 'node-http', health: 'ready', semantic_langs: ['en', 'zh'] };

async function start(before: readonly string[]) {
  let file = before.join('\n');
  const app = await startApp({}, file, () => file);
  const reload = async (...rows: readonly string[]) => {
    file = rows.join('\n');
    const { status, body } = await app.post('/api/v1/reload', {}, tokenOf('admin'));
    expect({ status, body }).toMatchObject({ status: 200, body: { credentials_changed: true } });
  };
  return { app, reload };
}

/** The whole text, when the stream has ended. */
async function stream(app: RunningApp, path: string, token: string) {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(app.url + path, { headers, signal: leaving.signal });
  expect(response.status).toBe(200);
  return response.text();
}

/** Resolves when the waits of each kind are open. */
const waitsOpen = (app: RunningApp, counts: Readonly<Record<string, number>>) =>
  eventually(async () => {
    const page = await metricsPage({ get: (path) => app.get(path, tokenOf('admin')) });
    const open = page.by('scheduler_http_waits', 'kind');
    return Object.entries(counts).every(([kind, count]) => open[kind] === count);
  });

describe('a revoked token', () => {
  it('loses its long polls and event streams; those of others go on', async () => {
    const clients = ['gone', 'kept'].map((name) => row(name, 'client', ACME));
    const { app, reload } = await start([ADMIN, row('node', 'node'), row('watch', 'viewer'), ...clients]);
    await app.post('/v1/node/register', PULL_NODE, tokenOf('node'));
    const { job_id: jobId } = (await app.post('/v1/dispatch/f2f', UTTERANCE, tokenOf('gone'))).body;
    const poll = app.get(`/v1/job/${jobId}?${WAIT}`, tokenOf('gone'));
    const translation = app.post('/v1/translate', { ...UTTERANCE, wait_ms: 30_000 }, tokenOf('gone'));
    const streams = [
      stream(app, `/v1/job/${jobId}/events`, tokenOf('gone')),
      stream(app, '/api/v1/live', tokenOf('watch')),
    ];
    const keptPoll = app.get(`/v1/job/${jobId}?${WAIT}`, tokenOf('kept'));
    await waitsOpen(app, { caller: 3, stream: 2 });

    await reload(ADMIN, row('node', 'node'), row('kept', 'client', ACME));
    const lost = { error: 'UNAUTHORIZED', detail: 'the token was revoked while the request waited' };
    for (const reply of [await poll, await translation])
      expect(reply).toMatchObject({ status: 401, body: lost });
    await Promise.all(streams);
    await waitsOpen(app, { caller: 1, stream: 0 });

    const done = {
      job_id: jobId,
      attempt_id: 1,
      node_id: 'node-http',
      text_asr: 'hi',
      text_translated: 'ni',
    };
    expect((await app.post('/v1/job/done', done, tokenOf('node'))).status).toBe(200);
    expect(await keptPoll).toMatchObject({ status: 200, body: { result: { text_asr: 'hi' } } });
  });

  it('of a node loses its poll for jobs', async () => {
    const { app, reload } = await start([ADMIN, row('node', 'node')]);
    await app.post('/v1/node/register', PULL_NODE, tokenOf('node'));
    const poll = app.get(`/v1/node/node-http/jobs?${WAIT}`, tokenOf('node'));
    await waitsOpen(app, { poll: 1 });
    await reload(ADMIN);
    expect((await poll).status).toBe(401);
  });
});

it('a registration that was begun before its token was revoked leaves no node', async () => {
  const { app, reload } = await start([ADMIN, row('node', 'node')]);
  const body = JSON.stringify(PULL_NODE);
  const headers = { authorization: `Bearer ${tokenOf('node')}`, 'content-type': 'application/json' };
  const register = request(`${app.url}/v1/node/register`, {
    method: 'POST',
    headers: { ...headers, 'content-length': body.length, expect: '100-continue' },
  });
  // The server has read the headers, and answers before the body comes.
  await new Promise((resolve) => register.once('continue', resolve).flushHeaders());
  await reload(ADMIN);
  const answered = new Promise<number | undefined>((resolve) =>
    register.once('response', (response) => resolve(response.resume().statusCode)),
  );
  register.end(body);
  expect(await answered).toBe(401);
  const { body: list } = await app.get<{ nodes: { status: string }[] }>('/api/v1/nodes', tokenOf('admin'));
  expect(list.nodes.filter(({ status }) => status !== 'offline')).toEqual([]);
});

describe('a token that lost a dedicated pool', () => {
  const pools = poolsToml(
    [{ id: 1, service: 'gold', isDedicated: true }],
    { acme: 1 },
    {
      strict_pool_eligibility: true,
    },
  );
  const client = row('client', 'client', ACME);
  const bound = row('node', 'node', 'pool_ids = [1]');
  const overHttp = {
    ...PULL_NODE,
    semantic_langs: ['en', 'zh'],
    nmt_pairs: [['en', 'zh']],
    tts_langs: ['zh'],
    installed_services: poolCapabilities('gold').installed_services,
    max_concurrent_jobs: 50,
  };
  const say = (app: RunningApp) => app.post('/v1/dispatch/f2f', UTTERANCE, tokenOf('client'));

  it('loses its HTTP node there, which registers again without the pool', async () => {
    const { app, reload } = await start([pools, ADMIN, client, bound]);
    await app.post('/v1/node/register', overHttp, tokenOf('node'));
    expect((await say(app)).body).toMatchObject({ node_id: 'node-http' });
    await reload(pools, ADMIN, client, row('node', 'node'));
    expect((await say(app)).body).toMatchObject({ error: expect.any(String) });
    const beat = () => app.post('/v1/node/heartbeat', { node_id: 'node-http' }, tokenOf('node'));
    await eventually(async () => (await beat()).status === 404);
    expect((await app.post('/v1/node/register', overHttp, tokenOf('node'))).status).toBe(200);
    expect((await say(app)).body).toMatchObject({ error: expect.any(String) });
  });

  it('loses the pool of its node with a socket', async () => {
    const { app, reload } = await start([pools, ADMIN, client, bound]);
    const node = await joinPooledNode(app.nodeUrl, 'gold', { slots: 50, token: tokenOf('node') });
    const isReady = () =>
      eventually(async () => {
        const { body } = await app.get<{ nodes: { status: string }[] }>('/api/v1/nodes', tokenOf('admin'));
        return body.nodes.some(({ status }) => status === 'ready');
      });
    await isReady();
    expect((await say(app)).body).toMatchObject({ node_id: 'node-gold' });
    await reload(pools, ADMIN, client, row('node', 'node'));
    expect((await say(app)).body).toMatchObject({ error: expect.any(String) });
    // The SDK connects again, with the rights that the token has now.
    await isReady();
    expect((await say(app)).body).toMatchObject({ error: expect.any(String) });
    expect(node.begun).toHaveLength(1);
  });

  it('keeps a node whose token has the same rights as before', async () => {
    const { app, reload } = await start([pools, ADMIN, client, bound]);
    await app.post('/v1/node/register', overHttp, tokenOf('node'));
    await reload(pools, ADMIN, client, bound, row('other', 'client', ACME));
    expect((await say(app)).body).toMatchObject({ node_id: 'node-http' });
  });
});
