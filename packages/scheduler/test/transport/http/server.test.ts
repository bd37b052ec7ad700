import { connect } from 'node:net';
import { HTTP_ENDPOINTS } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/domain/job.ts';
import { startApp } from '../../e2e/support/start-app.ts';
import { DISPATCH, REGISTER, REPORT, startServer } from './start-server.ts';

/** The server's replies to bytes that may not be HTTP. */
function speak(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

describe('HTTP server', () => {
  it('unknown paths and methods get the usual error reply', async () => {
    const { get, call } = await startServer();
    expect(await get('/nowhere')).toMatchObject({ status: 404, body: { error: 'NOT_FOUND' } });
    const wrong = await get('/v1/dispatch/f2f');
    expect(wrong).toMatchObject({ status: 405, body: { error: 'NOT_FOUND' } });
    expect(wrong.headers.get('allow')).toBe('POST');
    expect((await call('DELETE', '/v1/job/job-1/cancel')).headers.get('allow')).toBe('POST');
    expect((await call('HEAD', '/v1/node/node-1/jobs')).status).toBe(405);
  });

  it('unreadable requests get the usual error reply', async () => {
    const { get, post, call, port } = await startServer();
    expect(await get('/%')).toMatchObject({ status: 400, body: { error: 'INVALID_MESSAGE' } });
    expect(await get(`/v1/job/${'x'.repeat(600)}`)).toMatchObject({
      status: 400,
      body: { error: 'INVALID_MESSAGE' },
    });
    expect(await get(`/v1/job/${'x'.repeat(200)}`)).toMatchObject({ status: 400, body: { field: '/id' } });
    for (const text of ['{', 'nope', '[1', `${'['.repeat(40)}${']'.repeat(40)}`, '"text"', '[]', '5']) {
      expect(await post('/v1/job/ack', text)).toMatchObject({
        status: 400,
        body: { error: 'INVALID_MESSAGE' },
      });
    }
    const form = await call('POST', '/v1/job/ack', 'a=b', {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(form).toMatchObject({ status: 415, body: { error: 'INVALID_MESSAGE' } });
    expect(form.body.hint).toContain('application/json');
    const raw = await speak(port, 'this is not http\r\n\r\n');
    expect(raw).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(raw.split('\r\n\r\n')[1] ?? '')).toMatchObject({ error: 'INVALID_MESSAGE' });
    const headers = await speak(port, `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(headers).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('a plain GET on a WebSocket path says what it is', async () => {
    const { get } = await startServer();
    for (const path of ['/ws/session', '/ws/node?token=x']) {
      const { status, headers, body } = await get(path);
      expect(status).toBe(426);
      expect(headers.get('upgrade')).toBe('websocket');
      expect(body.detail).toMatch(/^\/ws\/(session|node) is a WebSocket, and this is a plain HTTP request$/);
    }
  });

  it('malformed JSON says where, on both ways to read a body', async () => {
    const { post } = await startServer();
    for (const path of ['/v1/dispatch/f2f', '/v1/job/ack'])
      expect(await post(path, '{"a": 1,\n "b" 2}')).toMatchObject({
        status: 400,
        body: { detail: 'the text is not valid JSON: it is wrong at line 2, column 6' },
      });
  });

  it('a missing body is reported by its first missing field', async () => {
    const { post } = await startServer();
    expect(await post('/v1/job/ack')).toMatchObject({ status: 400, body: { field: '/job_id' } });
    expect(await post('/v1/job/ack', '')).toMatchObject({ status: 400, body: { field: '/job_id' } });
    expect(await post('/v1/job/ack', 'null')).toMatchObject({ status: 400, body: { field: '/job_id' } });
  });

  it('null counts as absent, and prototype keys are dropped', async () => {
    const { post, engine } = await startServer();
    const text = `{"session_id":"s","src_lang":"en","tgt_lang":"zh","audio_ref":"blob://1","dialect":null,
      "features":{"__proto__":{"emotion_detection":true}},"options":{"preferred_node_id":null}}`;
    expect((await post('/v1/dispatch/f2f', text)).status).toBe(200);
    expect(engine.dispatched[0]?.spec.dialect).toBeUndefined();
    expect(engine.dispatched[0]?.spec.features).toEqual({});
  });

  it('bodies beyond the limit are refused; nodes have a higher limit', async () => {
    const { post } = await startServer({ settings: { maxBodyBytes: 1_000, maxNodeBodyBytes: 5_000 } });
    const audio = 'A'.repeat(2_000);
    const { audio_ref: _, ...rest } = DISPATCH;
    expect(await post('/v1/dispatch/f2f', { ...rest, audio })).toMatchObject({
      status: 413,
      body: {
        error: 'PAYLOAD_TOO_LARGE',
        detail: expect.stringMatching(/^the body is larger than the limit here, 1000 bytes$/),
      },
    });
    expect((await post('/v1/job/done', { ...REPORT, tts_audio: audio })).status).toBe(200);
    expect((await post('/v1/job/done', { ...REPORT, tts_audio: audio.repeat(3) })).status).toBe(413);
  });

  it('the time limits are those of the settings', async () => {
    const { server } = await startServer({
      settings: { headersTimeoutMs: 1_234, requestTimeoutMs: 5_678, keepAliveTimeoutMs: 4_321 },
    });
    const { headersTimeout, requestTimeout, keepAliveTimeout } = server.app.server;
    expect({ headersTimeout, requestTimeout, keepAliveTimeout }).toEqual({
      headersTimeout: 1_234,
      requestTimeout: 5_678,
      keepAliveTimeout: 4_321,
    });
  });

  it('closing ends idle connections and those without a request', async () => {
    const { server, port, get } = await startServer();
    await get('/health');
    const silent = connect(port, '127.0.0.1');
    await new Promise((resolve) => silent.once('connect', resolve));
    silent.on('error', () => {});
    const ended = new Promise((resolve) => silent.once('close', resolve));
    await server.close();
    await ended;
  });
});

describe('health routes', () => {
  it('live while the process runs, ready only when it is', async () => {
    const { get, call, readiness } = await startServer({ settings: { version: '1.2.3', instanceId: 'i-1' } });
    for (const path of ['/health', '/health/ready', '/health/live']) {
      expect(await get(path)).toMatchObject({
        status: 200,
        body: { status: 'ok', version: '1.2.3', instance_id: 'i-1' },
      });
      expect((await call('HEAD', path)).status).toBe(200);
    }
    readiness.isReady = false;
    readiness.reasons.push('store_unreachable');
    for (const path of ['/health', '/health/ready']) {
      expect(await get(path)).toMatchObject({
        status: 503,
        body: { status: 'unavailable', checks: [{ name: 'store_unreachable', ok: false }] },
      });
    }
    readiness.reasons.push('draining');
    expect((await get('/health')).body.status).toBe('draining');
    expect((await get('/health/live')).status).toBe(200);
  });

  it('health needs no token', async () => {
    const { get } = await startServer({ access: { trustedNetworks: ['10.0.0.0/8'] } });
    expect((await get('/health/live')).status).toBe(200);
  });
});

describe('operator routes', () => {
  it('nodes are listed page by page', async () => {
    const { get, post } = await startServer({ services: { usedSlots: () => 2 } });
    for (const nodeId of ['node-1', 'node-2', 'node-3']) {
      await post('/v1/node/register', { ...REGISTER, node_id: nodeId });
    }
    const first = await get('/api/v1/nodes?limit=2');
    expect(first.body.nodes).toHaveLength(2);
    expect(first.body.nodes[0]).toMatchObject({
      node_id: 'node-1',
      status: 'ready',
      cordoned: false,
      delivery: 'pull',
      used_slots: 2,
      max_concurrent_jobs: 2,
      ready_types: ['asr', 'semantic', 'nmt', 'tts'],
    });
    const second = await get(`/api/v1/nodes?limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body).toMatchObject({ nodes: [{ node_id: 'node-3' }] });
    expect(second.body).not.toHaveProperty('next_cursor');
    expect((await get('/api/v1/nodes?status=offline')).body.nodes).toEqual([]);
    for (const [query, field] of [
      ['limit=0', '/limit'],
      ['status=asleep', '/status'],
    ]) {
      expect(await get(`/api/v1/nodes?${query}`)).toMatchObject({ status: 400, body: { field } });
    }
  });

  it('jobs are filtered by tenant, state, node and session', async () => {
    const { get, post } = await startServer();
    await post('/v1/dispatch/f2f', { ...DISPATCH, tenant_id: 'one' });
    await post('/v1/dispatch/f2f', { ...DISPATCH, tenant_id: 'two', session_id: 'other' });
    const count = async (query: string) => (await get(`/api/v1/jobs?${query}`)).body.jobs.length;
    expect(await count('')).toBe(2);
    expect(await count('tenant_id=one')).toBe(1);
    expect(await count('session_id=other')).toBe(1);
    expect(await count('node_id=node-1')).toBe(2);
    expect(await count('node_id=node-2')).toBe(0);
    expect(await count('state=FAILED')).toBe(0);
    expect(await get('/api/v1/jobs?state=LOST')).toMatchObject({ status: 400, body: { field: '/state' } });
    const { jobs } = (await get('/api/v1/jobs')).body;
    expect(jobs[0]).not.toHaveProperty('timeline');
  });

  it('jobs have an outcome, by which and by its reason they are filtered', async () => {
    const { get, post, engine } = await startServer();
    const dispatch = async (): Promise<string> => (await post('/v1/dispatch/f2f', DISPATCH)).body.job_id;
    const [timedOut, cancelled, finished, running] = [
      await dispatch(),
      await dispatch(),
      await dispatch(),
      await dispatch(),
    ];
    engine.move(timedOut, 'RELEASED', { failure: { code: 'JOB_TIMEOUT', message: '' } });
    await post(`/v1/job/${cancelled}/cancel`, {});
    engine.move(finished, 'RELEASED');
    const listed = async (query: string) =>
      (await get(`/api/v1/jobs?${query}`)).body.jobs.map((job: { job_id: string }) => job.job_id);
    expect(await listed('outcome=failed')).toEqual([timedOut]);
    expect(await listed('outcome=cancelled')).toEqual([cancelled]);
    expect(await listed('outcome=finished')).toEqual([finished]);
    expect(await listed('outcome=running')).toEqual([running]);
    expect(await listed('outcome=waiting')).toEqual([]);
    expect(await listed('reason=JOB_TIMEOUT')).toEqual([timedOut]);
    expect(await listed('outcome=failed&reason=AUDIO_LOST')).toEqual([]);
    expect((await get(`/v1/job/${timedOut}`)).body).toMatchObject({ state: 'RELEASED', outcome: 'failed' });
    for (const [query, field] of [
      ['outcome=lost', '/outcome'],
      ['outcome=finished&reason=JOB_TIMEOUT', '/reason'],
      ['outcome=running&reason=ACK_TIMEOUT', '/reason'],
      ['cursor=1.job-1', '/cursor'],
    ])
      expect(await get(`/api/v1/jobs?${query}`)).toMatchObject({ status: 400, body: { field } });
  });

  it('waiting jobs are filtered by the reason that they show', async () => {
    const { get, post, engine } = await startServer();
    const dispatch = async (): Promise<string> => (await post('/v1/dispatch/f2f', DISPATCH)).body.job_id;
    const [retried] = [await dispatch(), await dispatch()];
    const job = engine.records.get(retried) as JobRecord;
    const step = { state: 'RETRYING', at: 1, attempt: 1, reason: 'ACK_TIMEOUT' } as const;
    engine.records.set(retried, { ...job, state: 'RETRYING', timeline: [...job.timeline, step] });
    const filtered = await get('/api/v1/jobs?outcome=waiting&reason=ACK_TIMEOUT');
    expect(filtered).toMatchObject({
      status: 200,
      body: { jobs: [{ job_id: retried, reason: 'ACK_TIMEOUT' }] },
    });
    expect((await get('/api/v1/jobs?reason=ACK_TIMEOUT')).body.jobs).toHaveLength(1);
    expect((await get('/api/v1/jobs?outcome=waiting&reason=JOB_TIMEOUT')).body.jobs).toEqual([]);
  });

  it('a node is shown with languages, services, marks and recent attempts', async () => {
    const attempt = { jobId: 'job-1', attempt: 2, outcome: 'failed', reason: 'ACK_TIMEOUT' } as const;
    const recentAttempts = { of: () => [{ ...attempt, endedAt: 5_000, durationMs: 3_000 }] };
    const { get, post } = await startServer({ services: { recentAttempts } });
    await post('/v1/node/register', REGISTER);
    const { status, body } = await get('/api/v1/nodes/node-123');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      node_id: 'node-123',
      heartbeat_age_ms: expect.any(Number),
      languages: { asr: ['any'], semantic: ['en', 'zh'], tts: ['en', 'zh'], nmt_sources: ['en', 'zh'] },
      services: [],
      marks: [],
      recent_attempts: [
        { job_id: 'job-1', attempt_id: 2, outcome: 'failed', reason: 'ACK_TIMEOUT', duration_ms: 3_000 },
      ],
      unreachable: [],
    });
    expect(await get('/api/v1/nodes/nobody')).toMatchObject({ status: 404, body: { field: '/id' } });
  });

  it('existing nodes can be cordoned, uncordoned and drained', async () => {
    const { post } = await startServer();
    await post('/v1/node/register', REGISTER);
    for (const [order, cordoned] of [
      ['cordon', true],
      ['uncordon', false],
      ['drain', true],
    ] as const) {
      expect((await post(`/api/v1/nodes/node-123/${order}`)).body).toMatchObject({
        ok: true,
        node_id: 'node-123',
        cordoned,
      });
      expect(await post(`/api/v1/nodes/nobody/${order}`)).toMatchObject({
        status: 404,
        body: { field: '/id' },
      });
      expect(await post(`/api/v1/nodes/node-123/${order}`, { reason: 5 })).toMatchObject({
        body: { field: '/reason' },
      });
    }
  });
});

describe('documentation routes', () => {
  it('every endpoint is documented with a summary and a tag', async () => {
    // Only the whole scheduler has all endpoints.
    const { get } = await startApp();
    const { body } = await get<{ openapi: string; paths: Record<string, Record<string, object>> }>(
      '/docs/json',
    );
    expect(body.openapi).toBe('3.1.0');
    for (const { method, path } of HTTP_ENDPOINTS) {
      const operation = body.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      expect(operation, `${method} ${path}`).toMatchObject({
        summary: expect.any(String),
        tags: [expect.any(String)],
      });
    }
  });

  it('all assets of the documentation are served locally', async () => {
    const { get } = await startServer();
    const page = await get('/docs');
    expect(page.headers.get('content-type')).toContain('text/html');
    const links = [...page.body.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) {
      expect(link).toMatch(/^\.?\//);
      expect((await get(link)).status).toBe(200);
    }
  });

  it('documentation and metrics can be disabled', async () => {
    const { get } = await startServer({
      settings: { hasDocs: false },
      services: { metrics: undefined as never },
    });
    expect((await get('/docs')).status).toBe(404);
    expect((await get('/metrics')).status).toBe(404);
  });

  it('metrics are printed', async () => {
    const { get } = await startServer();
    expect(await get('/metrics')).toMatchObject({ status: 200, body: 'scheduler_nodes 1\n' });
  });
});
