import { describe, expect, it } from 'vitest';
import { digestToken } from '../../../src/transport/access/tokens.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { TOKENS } from '../access/settings.ts';
import { bearer, DISPATCH, OPEN, REGISTER, REPORT, startServer } from './start-server.ts';

/** Every route, with a request that is valid apart from its credential, and the roles that may send it. */
const ROUTES: readonly [method: string, path: string, body: unknown, roles: readonly string[]][] = [
  ['POST', '/v1/dispatch/f2f', DISPATCH, ['client']],
  ['GET', '/v1/job/job-1', undefined, ['client']],
  ['GET', '/v1/job/job-1/events', undefined, ['client']],
  ['POST', '/v1/job/job-1/cancel', {}, ['client']],
  ['POST', '/v1/node/register', REGISTER, ['node']],
  ['POST', '/v1/node/heartbeat', { node_id: 'node-123' }, ['node']],
  ['GET', '/v1/node/node-123/jobs', undefined, ['node']],
  ['DELETE', '/v1/node/node-123', undefined, ['node']],
  ['POST', '/v1/job/ack', REPORT, ['node']],
  ['POST', '/v1/job/done', REPORT, ['node']],
  ['POST', '/v1/job/partial', { ...REPORT, text: 'hel' }, ['node']],
  ['POST', '/v1/job/fail', { ...REPORT, reason: 'X' }, ['node']],
  ['GET', '/api/v1/nodes', undefined, []],
  ['GET', '/api/v1/jobs', undefined, []],
  ['GET', '/api/v1/sessions', undefined, []],
  ['POST', '/api/v1/nodes/node-123/cordon', {}, []],
  ['POST', '/api/v1/nodes/node-123/uncordon', {}, []],
  ['POST', '/api/v1/nodes/node-123/drain', {}, []],
  ['GET', '/api/v1/cluster', undefined, []],
  ['GET', '/api/v1/dead-letters', undefined, []],
  ['GET', '/api/v1/dead-letters/a:1-1', undefined, []],
  ['POST', '/api/v1/dead-letters/a:1-1/replay', {}, []],
  ['DELETE', '/api/v1/dead-letters', undefined, []],
  ['GET', '/metrics', undefined, []],
];

/** The gate admitted the request, whatever the route answers then. */
const isInside = (status: number) => status !== 401 && status !== 403;

describe('every route', () => {
  it('admits the right roles and operators, and no others', async () => {
    const { call } = await startServer({ access: { tokens: TOKENS } });
    for (const [method, path, body, roles] of ROUTES) {
      const what = `${method} ${path}`;
      const status = async (headers?: Record<string, string>) =>
        (await call(method, path, body, headers)).status;
      expect(isInside(await status(bearer('operator-token'))), what).toBe(true);
      expect(isInside(await status(bearer('node-token'))), what).toBe(roles.includes('node'));
      expect(isInside(await status(bearer('acme-token'))), what).toBe(roles.includes('client'));
      expect(await status(), what).toBe(401);
      expect(await status(bearer('wrong-token')), what).toBe(401);
      expect(await status({ authorization: 'Basic bm9kZS10b2tlbjo=' }), what).toBe(401);
      expect(await status({ authorization: '' }), what).toBe(401);
    }
  });

  it('admits anonymous roles, but never with a wrong token', async () => {
    const { call } = await startServer({ access: { tokens: TOKENS, anonymous: ['session', 'node'] } });
    for (const [method, path, body, roles] of ROUTES) {
      const what = `${method} ${path}`;
      expect(isInside((await call(method, path, body)).status), what).toBe(roles.length > 0);
      expect((await call(method, path, body, bearer('wrong-token'))).status, what).toBe(401);
    }
  });

  it.each([[[]], [['session', 'node', 'operator'] as const]])(
    'refuses peers outside the trusted networks, with the anonymous roles %j',
    async (anonymous) => {
      const { call } = await startServer({ access: { anonymous, trustedNetworks: ['10.0.0.0/8'] } });
      for (const [method, path, body] of ROUTES)
        expect((await call(method, path, body)).status, `${method} ${path}`).toBe(401);
    },
  );
});

describe('refusals of the gate', () => {
  it('a refusal says which credential is required', async () => {
    const { post } = await startServer({ access: { tokens: TOKENS } });
    const { headers, body } = await post('/v1/dispatch/f2f', DISPATCH);
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(body).toMatchObject({
      error: 'UNAUTHORIZED',
      hint: expect.stringContaining('Authorization: Bearer'),
    });
  });

  it('a request is refused before its body is read', async () => {
    const { post } = await startServer({ access: { tokens: TOKENS } });
    expect((await post('/v1/dispatch/f2f', 'not json')).status).toBe(401);
  });
});

describe('open server without tokens', () => {
  it('requests for this machine are served, rebound host names are refused', async () => {
    const { server } = await startServer();
    const inject = (host: string) =>
      server.app.inject({ method: 'POST', url: '/v1/dispatch/f2f', headers: { host }, payload: DISPATCH });
    expect((await inject('localhost:5010')).statusCode).toBe(200);
    const rebound = await inject('evil.example');
    expect(rebound.statusCode).toBe(403);
    expect(rebound.json().detail).toContain('Host');
  });

  it('pages of other origins are refused without a token', async () => {
    const { url, post } = await startServer({ access: { allowedOrigins: ['https://app.example'] } });
    await post('/v1/node/register', REGISTER);
    const cordon = (origin: string) => post('/api/v1/nodes/node-123/cordon', undefined, { origin });
    expect((await cordon('https://evil.example')).status).toBe(403);
    expect((await cordon('null')).status).toBe(403);
    expect((await cordon(url)).status).toBe(200);
    expect((await cordon('https://app.example')).status).toBe(200);
  });

  it('cross-site loads, such as fetching jobs, are refused', async () => {
    const { call, post } = await startServer();
    await post('/v1/node/register', REGISTER);
    const load = (site: string) =>
      call('GET', '/v1/node/node-123/jobs', undefined, { 'sec-fetch-site': site });
    expect((await load('cross-site')).status).toBe(403);
    for (const site of ['same-origin', 'same-site', 'none']) expect((await load(site)).status).toBe(200);
  });
});

describe('pages of listed origins', () => {
  it('a listed origin may read replies after a preflight', async () => {
    const { call } = await startServer({ settings: { corsOrigins: ['https://app.example'] } });
    const origin = 'https://app.example';
    const asked = await call('OPTIONS', '/v1/dispatch/f2f', undefined, { origin });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(origin);
    expect(asked.headers.get('access-control-allow-headers')).toContain('authorization');
    const other = await call('OPTIONS', '/v1/dispatch/f2f', undefined, { origin: 'https://evil.example' });
    expect(other.status).toBe(405);
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    const plain = await call('GET', '/health', undefined, { origin });
    expect(plain.headers.get('access-control-allow-origin')).toBe(origin);
    expect(plain.headers.get('vary')).toContain('Origin');
  });
});

describe('request budgets over HTTP', () => {
  /** Stands still: a busy machine refills no budget during a test. */
  const clock = createManualClock();
  const limits = { ...OPEN.limits, requestsPerSecondPerTenant: 3 };

  it('one tenant at its limit gets retry_after_ms, another is served', async () => {
    const { post, counts } = await startServer({ clock, access: { tokens: TOKENS, limits } });
    const dispatch = (token: string) => post('/v1/dispatch/f2f', DISPATCH, bearer(token));
    for (let count = 0; count < 3; count += 1) expect((await dispatch('acme-token')).status).toBe(200);
    const limited = await dispatch('acme-token');
    expect(limited).toMatchObject({ status: 429, body: { error: 'RATE_LIMITED' } });
    expect(limited.body.retry_after_ms).toBeGreaterThan(0);
    expect(limited.headers.get('retry-after')).toBe('1');
    expect((await dispatch('globex-token')).status).toBe(200);
    expect(counts.get('scheduler_rate_limited_total tenant')).toBe(1);
  });

  it('each tenant named by an anonymous caller has its own budget', async () => {
    const { post } = await startServer({ clock, access: { limits } });
    const dispatch = (tenantId: string) => post('/v1/dispatch/f2f', { ...DISPATCH, tenant_id: tenantId });
    for (let count = 0; count < 3; count += 1) expect((await dispatch('one')).status).toBe(200);
    expect((await dispatch('one')).status).toBe(429);
    expect((await dispatch('two')).status).toBe(200);
  });

  it('unreadable requests also use the global budget', async () => {
    const { post } = await startServer({
      clock,
      access: { limits: { ...OPEN.limits, requestsPerSecond: 2 } },
    });
    const statuses: number[] = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await post('/v1/dispatch/f2f', '{')).status);
    expect(statuses).toEqual([400, 400, 429, 429]);
  });

  it('the global budget also limits nodes, which have no tenant', async () => {
    const { post } = await startServer({
      clock,
      access: { limits: { ...OPEN.limits, requestsPerSecond: 2 } },
    });
    const statuses: number[] = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await post('/v1/job/ack', REPORT)).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
  });
});

describe('operator action log', () => {
  const NAMED = { sha256: digestToken('ann-token'), role: 'operator' as const, name: 'ann' };
  const actionsIn = (lines: readonly string[]) =>
    lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'operator action');

  it("names the actor's token and the reason given", async () => {
    const { post, lines } = await startServer({ access: { tokens: [...TOKENS, NAMED] } });
    await post('/api/v1/nodes/node-x/drain', { reason: 'new driver' }, bearer('ann-token'));
    await post('/v1/job/job-x/cancel', { reason: 'stuck' }, bearer('ann-token'));
    await post('/v1/job/job-x/cancel', { reason: 'not needed' }, bearer('acme-token'));
    await post('/api/v1/nodes/node-x/drain', {}, bearer('wrong'));
    expect(actionsIn(lines)).toMatchObject([
      { actor: 'ann', action: 'POST /api/v1/nodes/node-x/drain', reason: 'new driver', status: 404 },
      { actor: 'ann', action: 'POST /v1/job/job-x/cancel', reason: 'stuck' },
    ]);
    expect(actionsIn(lines)).toHaveLength(2);
  });

  it('the audit log has who, what, from where and the result', async () => {
    const { post, audited } = await startServer({ access: { tokens: [...TOKENS, NAMED] } });
    await post('/api/v1/nodes/node-x/drain', { reason: 'new driver' }, bearer('ann-token'));
    await post('/v1/job/job-x/cancel', { reason: 'not needed' }, bearer('acme-token'));
    expect(audited).toEqual([
      {
        action: 'drainNode',
        result: 'refused',
        who: 'ann',
        from: '127.0.0.1',
        target: 'node-x',
        details: { role: 'operator', tenant_id: undefined, reason: 'new driver', status: 404 },
      },
    ]);
  });

  it('a token without a name is known by 12 digits of its digest', async () => {
    const tokens = [{ ...NAMED, name: undefined }];
    const { post, audited } = await startServer({ access: { tokens } });
    await post('/api/v1/nodes/node-x/drain', {}, bearer('ann-token'));
    expect(audited).toMatchObject([{ who: `token:${NAMED.sha256.slice(0, 12)}` }]);
  });
});

describe('request log', () => {
  it('the log never contains tokens, digests or recognised text', async () => {
    const token = 'a-token-nobody-may-see';
    const tokens = [...TOKENS, { sha256: digestToken(token), role: 'operator' as const }];
    const { call, post, lines } = await startServer({
      access: { tokens },
      services: {
        registry: {
          register: async () => {
            throw new Error('broken');
          },
        } as never,
      },
    });
    const speech = 'secret words';
    for (const [method, path, body] of ROUTES) {
      await call(method, `${path}?token=${token}`, body, bearer(token));
      await call(method, path, body, bearer(`${token}x`));
    }
    await post('/v1/job/done', { ...REPORT, text_asr: speech, text_translated: speech }, bearer(token));
    await post('/v1/job/done', { ...REPORT, text_asr: speech, extra: speech }, bearer(token));
    await post('/v1/dispatch/f2f', `{"session_id": "${speech}"`, bearer(token));
    await call('GET', `/nowhere?token=${token}`);
    const written = lines.join('');
    expect(lines.length).toBeGreaterThan(ROUTES.length * 2);
    expect(written).toContain('token=(hidden)');
    expect(written).toContain('request failed');
    expect(written).not.toContain(token);
    expect(written).not.toContain(digestToken(token).slice(0, 16));
    expect(written).not.toContain(speech);
  });
});
