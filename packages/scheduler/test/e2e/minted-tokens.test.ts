/** Short-lived tokens: minted by a tenant's server, accepted by every instance with the key, and not beyond their scope. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSession } from '@lingua/sdk/client';
import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { eventually } from '../support/eventually.ts';
import { joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { AUDIO, type RunningApp, startApp } from './support/start-app.ts';

const secretOf = (letter: string): string => Buffer.from(letter.repeat(32)).toString('base64url');
const HS_KEY = (kid: string, letter: string) => ({ kid, alg: 'HS256', kty: 'oct', k: secretOf(letter) });
const KEYS = JSON.stringify({ keys: [HS_KEY('one', 'a')] });

const TOKENS = {
  server: 'server-token-0123456789',
  plain: 'plain-token-0123456789',
  admin: 'admin-token-0123456789',
};
const toml = (keys: string) =>
  [
    `[server]\ntoken_keys = '${keys}'`,
    `[[server.tokens]]\ntoken = "${TOKENS.server}"\nname = "acme-server"\nrole = "client"\ntenant_id = "acme"\nmay_mint = true`,
    `[[server.tokens]]\ntoken = "${TOKENS.plain}"\nrole = "client"\ntenant_id = "acme"`,
    `[[server.tokens]]\ntoken = "${TOKENS.admin}"\nname = "root"\nrole = "admin"`,
  ].join('\n');

const mint = (app: RunningApp, body: object, token = TOKENS.server) =>
  app.post<{ token: string; error?: string; detail?: string; field?: string }>('/v1/tokens', body, token);

async function minted(app: RunningApp, body: object, by?: string): Promise<string> {
  const { status, body: reply } = await mint(app, body, by);
  if (status !== 200) throw new Error(JSON.stringify(reply));
  return reply.token;
}

const INIT = {
  type: 'session_init',
  client_version: '1',
  platform: 'web',
  src_lang: 'en',
  tgt_lang: 'zh',
  supports: ['result_ack'],
  resume_token: 'junk',
};
const UTTERANCE = { src_lang: 'en', tgt_lang: 'zh', audio: AUDIO };

/** Signs any claims with a key of the server, as an attacker with another key or another tool would. */
const forged = (
  claims: object,
  {
    letter = 'a',
    kid = 'one',
    alg = 'HS256',
    issuer = 'lingua-scheduler',
    audience = 'lingua-scheduler',
  } = {},
) => {
  const now = Math.floor(Date.now() / 1_000);
  return new SignJWT({
    sub: 'eve',
    role: 'client',
    tenant_id: 'acme',
    jti: 'x',
    iat: now,
    exp: now + 60,
    ...claims,
  })
    .setProtectedHeader({ alg, kid, typ: 'JWT' })
    .setIssuer(issuer)
    .setAudience(audience)
    .sign(Buffer.from(letter.repeat(32)));
};

describe('minted tokens', () => {
  it("a tenant's server mints a token that another instance accepts", async () => {
    const app = await startApp({}, toml(KEYS));
    const other = await startApp({}, toml(KEYS));
    const token = await minted(app, { user_id: 'ann', expires_in_seconds: 60 });
    for (let n = 0; n < 2; n++)
      expect((await other.get('/v1/whoami', token)).body).toMatchObject({
        role: 'client',
        tenant_id: 'acme',
        name: 'acme-server/ann',
        expires_at_ms: expect.any(Number),
      });
  });

  it('nobody mints more than they may', async () => {
    const app = await startApp({}, toml(KEYS));
    expect((await mint(app, { user_id: 'ann' }, TOKENS.plain)).body.detail).toContain('may_mint');
    expect((await mint(app, { user_id: 'ann', tenant_id: 'globex' })).body).toMatchObject({
      field: '/tenant_id',
    });
    expect((await mint(app, { user_id: 'ann', role: 'operator' })).status).toBe(403);
    expect((await mint(app, { user_id: 'ann', expires_in_seconds: 86_401 })).status).toBe(400);
    expect((await mint(app, { user_id: 'ann' }, TOKENS.admin)).body).toMatchObject({ field: '/tenant_id' });
    expect((await mint(app, { user_id: 'ann', role: 'admin' }, TOKENS.admin)).status).toBe(400);
    const viewer = await minted(app, { user_id: 'ann', role: 'viewer' }, TOKENS.admin);
    expect((await app.get('/api/v1/nodes', viewer)).status).toBe(200);
    const client = await minted(app, { user_id: 'ann' });
    expect((await mint(app, { user_id: 'bob' }, client)).status).toBe(403);
    const withoutKeys = await startApp({}, toml(KEYS).replace(/token_keys.*/, ''));
    expect((await mint(withoutKeys, { user_id: 'ann' })).status).toBe(501);
  });

  it('forged, expired and too long tokens are refused', async () => {
    const app = await startApp({}, toml(KEYS));
    const now = Math.floor(Date.now() / 1_000);
    const refused = [
      new UnsecuredJWT({ sub: 'eve', role: 'operator', jti: 'x' })
        .setIssuedAt()
        .setExpirationTime('1h')
        .encode(),
      await forged({}, { letter: 'b' }),
      await forged({}, { kid: 'two' }),
      await forged({}, { alg: 'HS512', letter: 'aa' }),
      await forged({ role: 'admin' }),
      await forged({ role: 'node' }),
      await forged({ exp: undefined }),
      await forged({ iat: now - 120, exp: now - 60 }),
      await forged({ exp: now + 2 * 86_400 }),
      await forged({ padding: 'x'.repeat(5_000) }),
      await forged({}, { issuer: 'elsewhere' }),
      await forged({}, { audience: 'elsewhere' }),
      (await forged({})).replace(/\.[^.]*$/, `.${'A'.repeat(43)}`),
    ];
    for (const [index, token] of refused.entries())
      expect((await app.get('/v1/whoami', token)).status, `token ${index}`).toBe(401);
    expect((await app.get('/v1/whoami', await forged({}))).status).toBe(200);
    // Clocks may differ by 30 seconds.
    expect((await app.get('/v1/whoami', await forged({ iat: now - 60, exp: now - 10 }))).status).toBe(200);
  });

  it('the first key signs, all verify, and a removed key ends its tokens', async () => {
    let file = toml(KEYS);
    const app = await startApp({}, file, () => file);
    const old = await minted(app, { user_id: 'ann' });
    const socket = new WebSocket(`${app.nodeUrl.replace('/ws/node', '/ws/session')}?token=${old}`);
    onTestFinished(() => socket.terminate());
    const closed = new Promise((resolve) => socket.on('close', (_, reason) => resolve(`${reason}`)));
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    file = toml(JSON.stringify({ keys: [HS_KEY('two', 'b'), HS_KEY('one', 'a')] }));
    expect((await app.post('/api/v1/reload', {}, TOKENS.admin)).body).toMatchObject({
      credentials_changed: true,
    });
    const fresh = await minted(app, { user_id: 'ann' });
    for (const token of [old, fresh]) expect((await app.get('/v1/whoami', token)).status).toBe(200);
    file = toml(JSON.stringify({ keys: [HS_KEY('two', 'b')] }));
    await app.post('/api/v1/reload', {}, TOKENS.admin);
    expect(await closed).toBe('revoked');
    expect((await app.get('/v1/whoami', old)).status).toBe(401);
    expect((await app.get('/v1/whoami', fresh)).status).toBe(200);
  });

  it('the audit log names the user, role and tenant of each minted token', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lingua-audit-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'audit.jsonl');
    const app = await startApp({ 'audit.file': file }, toml(KEYS));
    const token = await minted(app, { user_id: 'ann', session_id: 'room-1', expires_in_seconds: 60 });
    await minted(app, { user_id: 'eve', role: 'operator' }, TOKENS.admin);
    expect((await mint(app, { user_id: 'bob', tenant_id: 'globex' })).status).toBe(403);
    expect((await mint(app, { user_id: { of: 'junk' } })).status).toBe(400);
    const lines = await eventually(async () => {
      const events = (await readFile(file, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const found = events.filter(({ audit }) => audit === 'mintToken');
      return found.length === 4 && found;
    });
    const ann = { target: 'ann', minted_role: 'client', minted_session_id: 'room-1', expires_in_seconds: 60 };
    expect(lines).toMatchObject([
      { result: 'done', who: 'acme-server', tenant_id: 'acme', ...ann },
      { result: 'done', who: 'root', target: 'eve', minted_role: 'operator' },
      { result: 'refused', who: 'acme-server', target: 'bob', minted_tenant_id: 'globex', status: 403 },
      { result: 'refused', who: 'acme-server', status: 400 },
    ]);
    expect(await readFile(file, 'utf8')).not.toContain(token);
  });

  it('a live feed ends when its token expires', async () => {
    const app = await startApp({}, toml(KEYS));
    const viewer = await minted(app, { user_id: 'ann', role: 'viewer', expires_in_seconds: 1 }, TOKENS.admin);
    const feed = await fetch(`${app.url}/api/v1/live?token=${viewer}`);
    expect(feed.status).toBe(200);
    expect(await feed.text()).toContain('event: snapshot');
  });

  it('another key under the same id ends the tokens of the first', async () => {
    let file = toml(KEYS);
    const app = await startApp({}, file, () => file);
    const viewer = await minted(app, { user_id: 'ann', role: 'viewer' }, TOKENS.admin);
    const feed = await fetch(`${app.url}/api/v1/live?token=${viewer}`);
    file = toml(JSON.stringify({ keys: [HS_KEY('one', 'b')] }));
    await app.post('/api/v1/reload', {}, TOKENS.admin);
    await feed.text();
    expect((await app.get('/v1/whoami', viewer)).status).toBe(401);
  });

  it('a minted operator registers no nodes, which would stay after its expiry', async () => {
    const app = await startApp({}, toml(KEYS));
    const operator = await minted(app, { user_id: 'ann', role: 'operator' }, TOKENS.admin);
    expect((await app.get('/api/v1/nodes', operator)).status).toBe(200);
    expect((await app.get('/api/v1/usage', operator)).status).toBe(200);
    const node = { node_id: 'node-1', health: 'ready', semantic_langs: ['en', 'zh'] };
    expect((await app.post('/v1/node/register', node, operator)).status).toBe(403);
  });

  it('a token uses only its session and languages, over HTTP and sockets', async () => {
    const app = await startApp(
      {},
      `${toml(KEYS)}\n[[server.tokens]]\ntoken = "node-token-0123456789"\nrole = "node"`,
    );
    await joinSdkNode({ url: app.nodeUrl, token: 'node-token-0123456789', onJob: () => OUTPUT });
    const scoped = await minted(app, { user_id: 'ann', session_id: 'room-1', languages: ['en', 'zh'] });
    const say = (fields: object) => app.post('/v1/translate', { ...UTTERANCE, ...fields }, scoped);
    const own = await say({});
    expect(own.status).toBe(200);
    expect((await say({ session_id: 'room-2' })).body).toMatchObject({
      error: 'FORBIDDEN',
      field: '/session_id',
    });
    expect((await say({ tgt_lang: 'de' })).body).toMatchObject({ error: 'FORBIDDEN', field: '/tgt_lang' });
    expect((await say({ src_lang: 'auto' })).body).toMatchObject({ field: '/src_lang' });
    const others = await app.post('/v1/translate', { ...UTTERANCE, session_id: 'room-2' }, TOKENS.plain);
    expect((await app.get(`/v1/job/${own.body.job_id}`, scoped)).status).toBe(200);
    expect((await app.get(`/v1/job/${others.body.job_id}`, scoped)).status).toBe(404);
    const languages = await minted(app, { user_id: 'bob', languages: ['en', 'zh'] });
    const session = openSession({ url: app.url, token: languages, srcLang: 'en', tgtLang: 'de', WebSocket });
    const errors: unknown[] = [];
    session.on('error', (event) => errors.push(event));
    await eventually(() => session.state === 'failed');
    expect(errors).toMatchObject([{ code: 'FORBIDDEN', details: { path: '/tgt_lang' } }]);
  });

  it('a token of one session erases and opens no other one', async () => {
    const app = await startApp(
      {},
      `${toml(KEYS)}\n[[server.tokens]]\ntoken = "node-token-0123456789"\nrole = "node"`,
    );
    await joinSdkNode({ url: app.nodeUrl, token: 'node-token-0123456789', onJob: () => OUTPUT });
    const scoped = await minted(app, { user_id: 'ann', session_id: 'room-1' });
    const others = await app.post<{ job_id: string }>(
      '/v1/translate',
      { ...UTTERANCE, session_id: 'room-2' },
      TOKENS.plain,
    );
    expect((await app.remove('/v1/sessions/room-2', scoped)).status).toBe(404);
    const { body } = await app.get(`/v1/job/${others.body.job_id}`, TOKENS.plain);
    expect(body).toMatchObject({ result: { text_asr: OUTPUT.text_asr } });
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/ws/session?token=${scoped}`);
    onTestFinished(() => socket.terminate());
    const frames: unknown[] = [];
    socket.on('message', (frame) => frames.push(JSON.parse(String(frame))));
    socket.on('open', () => socket.send(JSON.stringify({ ...INIT, resume_session_id: 'room-1' })));
    await eventually(() => socket.readyState === WebSocket.CLOSED);
    expect(frames.at(-1)).toMatchObject({ type: 'error', code: 'FORBIDDEN' });
    const open = await app.get<{ sessions: unknown[] }>('/api/v1/sessions', TOKENS.admin);
    expect(open.body.sessions).toEqual([]);
  });

  it('a client with fresh tokens continues its session when a token expires', async () => {
    const app = await startApp({}, toml(KEYS));
    let asked = 0;
    const token = () => {
      asked += 1;
      return minted(app, { user_id: 'ann', expires_in_seconds: 1 });
    };
    const opened: boolean[] = [];
    const session = openSession({
      url: app.url,
      token,
      srcLang: 'en',
      tgtLang: 'zh',
      WebSocket,
      timings: { quickMs: 10, firstMs: 20 },
    });
    session.on('open', ({ resumed }) => opened.push(resumed));
    await eventually(() => opened.length >= 2);
    expect(opened.slice(0, 2)).toEqual([false, true]);
    expect(asked).toBeGreaterThanOrEqual(2);
    await session.close();
  });
});
