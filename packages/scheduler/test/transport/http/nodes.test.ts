import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { TOKENS } from '../access/settings.ts';
import { bearer, REGISTER, REPORT, startServer } from './start-server.ts';

const ASSIGN = { type: 'job_assign', job_id: 'job-1' } as never;
const soon = () => Date.now() + 60_000;

describe('POST /v1/node/register', () => {
  it('a registration is answered with id, state and heartbeat interval', async () => {
    const { post, registry } = await startServer();
    const { status, body } = await post('/v1/node/register', REGISTER);
    expect(status).toBe(200);
    expect(body).toEqual({
      ok: true,
      node_id: 'node-123',
      status: 'ready',
      heartbeat_interval_ms: 15_000,
      generation: 1,
      delivery: 'pull',
    });
    expect(registry.registrations[0]).toMatchObject({ nodeId: 'node-123', channel: 'mailbox' });
  });

  it('an endpoint must be in a permitted network', async () => {
    const { post } = await startServer();
    const good = await post('/v1/node/register', { ...REGISTER, endpoint: 'http://10.0.0.9/jobs' });
    expect(good.body.delivery).toBe('endpoint');
    const bad = await post('/v1/node/register', { ...REGISTER, endpoint: 'http://169.254.169.254/' });
    expect(bad).toMatchObject({ status: 403, body: { error: 'FORBIDDEN', field: '/endpoint' } });
    expect(bad.body.detail).toContain('server.endpoint_networks');
  });

  it.each([
    [{ ...REGISTER, node_id: null }, '/node_id'],
    [{ ...REGISTER, node_id: 'a b' }, '/node_id'],
    [{ ...REGISTER, health: 'fine' }, '/health'],
    [{ ...REGISTER, nmt_pairs: [['en']] }, '/nmt_pairs/0'],
    [{ ...REGISTER, semantic_langs: 'en' }, '/semantic_langs'],
    [{ ...REGISTER, nmt_pairs: 'all' }, '/nmt_pairs'],
    [{ ...REGISTER, asr_langs: [7] }, '/asr_langs/0'],
    [{ ...REGISTER, capability_by_type: [{ type: 'tone' }] }, '/capability_by_type/0/ready'],
    [{ ...REGISTER, max_concurrent_jobs: 0 }, '/max_concurrent_jobs'],
    [{ ...REGISTER, endpoint: 'ftp://10.0.0.1/' }, '/endpoint'],
  ])('the invalid field of %j is named', async (body, field) => {
    const { post } = await startServer();
    expect(await post('/v1/node/register', body)).toMatchObject({
      status: 400,
      body: { error: 'INVALID_MESSAGE', field },
    });
  });

  it('a refusal of the registry is passed on', async () => {
    const { post, registry } = await startServer();
    registry.refuseWith({ kind: 'refused', code: 'NODE_ID_CONFLICT', message: 'taken' });
    expect(await post('/v1/node/register', REGISTER)).toMatchObject({
      status: 409,
      body: { error: 'NODE_ID_CONFLICT', detail: 'taken' },
    });
  });

  it('a draining server refuses registrations', async () => {
    const { post, readiness } = await startServer();
    readiness.reasons.push('draining');
    expect((await post('/v1/node/register', REGISTER)).status).toBe(503);
  });
});

describe('POST /v1/node/heartbeat', () => {
  it('a heartbeat keeps a node registered; unknown nodes must register again', async () => {
    const { post, registry } = await startServer();
    const unknown = await post('/v1/node/heartbeat', { node_id: 'node-123' });
    expect(unknown).toMatchObject({ status: 404, body: { error: 'NOT_FOUND', field: '/node_id' } });
    expect(unknown.body.hint).toContain('/v1/node/register');
    await post('/v1/node/register', REGISTER);
    const beat = await post('/v1/node/heartbeat', { ...REGISTER, current_load: { gpu: 0.5, cpu: 0.25 } });
    expect(beat).toMatchObject({ status: 200, body: { ok: true, status: 'ready' } });
    expect(registry.beats.at(-1)?.resources).toEqual({ gpuPercent: 50, cpuPercent: 25, runningJobs: 0 });
  });
});

const waiting = (jobId: string) => ({
  jobId,
  expiresAt: soon(),
  slot: { lease: `${jobId}:1`, ttlMs: 60_000 },
});

describe('GET /v1/node/:id/jobs', () => {
  it('waiting jobs are returned, at most as many as requested', async () => {
    const { get, post, mailbox } = await startServer();
    await post('/v1/node/register', REGISTER);
    for (const jobId of ['job-1', 'job-2', 'job-3']) {
      await mailbox.put('node-123', { ...waiting(jobId), body: { job_id: jobId } as never });
    }
    expect((await get('/v1/node/node-123/jobs?max=2')).body).toEqual({
      jobs: [{ job_id: 'job-1' }, { job_id: 'job-2' }],
    });
    expect((await get('/v1/node/node-123/jobs')).body.jobs).toHaveLength(1);
    expect((await get('/v1/node/node-123/jobs')).body).toEqual({ jobs: [] });
  });

  it('a fetch waits for a job', async () => {
    const { get, post, mailbox } = await startServer();
    await post('/v1/node/register', REGISTER);
    const polled = get('/v1/node/node-123/jobs?wait_ms=20000');
    await mailbox.put('node-123', { ...waiting('job-1'), body: ASSIGN });
    expect((await polled).body).toEqual({ jobs: [ASSIGN] });
  });

  it('a job is kept for the next fetch when the client disconnects', async () => {
    const taking: AbortSignal[] = [];
    const started = await startServer();
    const { url, post, get, mailbox, server } = started;
    const { take } = mailbox;
    mailbox.take = (nodeId, limits) => {
      if (limits.signal !== undefined) taking.push(limits.signal);
      return take(nodeId, limits);
    };
    await post('/v1/node/register', REGISTER);
    const leaving = new AbortController();
    const polled = fetch(`${url}/v1/node/node-123/jobs?wait_ms=20000`, { signal: leaving.signal });
    await eventually(() => taking.length === 1);
    leaving.abort();
    await expect(polled).rejects.toThrow();
    await eventually(() => taking[0]?.aborted === true);
    await mailbox.put('node-123', { ...waiting('job-1'), body: ASSIGN });
    expect((await get('/v1/node/node-123/jobs')).body.jobs).toHaveLength(1);
    expect(server.app.server.listening).toBe(true);
  });

  it('a waiting fetch is answered when the server closes', async () => {
    const { get, post, server } = await startServer();
    await post('/v1/node/register', REGISTER);
    const polled = get('/v1/node/node-123/jobs?wait_ms=60000');
    await eventually(async () => (await connections(server)) > 1);
    await server.close();
    expect((await polled).body).toEqual({ jobs: [] });
  });

  it('an unregistered node has no mailbox', async () => {
    const { get } = await startServer();
    expect(await get('/v1/node/nobody/jobs?wait_ms=60000')).toMatchObject({
      status: 404,
      body: { field: '/id' },
    });
  });

  it.each([
    'wait_ms=60001',
    'wait_ms=-1',
    'wait_ms=x',
    'wait_ms=1&wait_ms=2',
    'max=0',
    'max=1.5',
    'max=1001',
  ])('the invalid field of ?%s is named', async (query) => {
    const { get } = await startServer();
    const field = `/${query.split('=')[0]}`;
    expect(await get(`/v1/node/node-123/jobs?${query}`)).toMatchObject({
      status: 400,
      body: { error: 'INVALID_MESSAGE', field },
    });
  });

  it('a fetch beyond the limit of waiting requests is refused', async () => {
    const { get, post } = await startServer({ settings: { maxWaits: 0 } });
    await post('/v1/node/register', REGISTER);
    expect(await get('/v1/node/node-123/jobs?wait_ms=1000')).toMatchObject({
      status: 429,
      body: { error: 'RATE_LIMITED' },
    });
    expect((await get('/v1/node/node-123/jobs?wait_ms=0')).status).toBe(200);
  });
});

describe('DELETE /v1/node/:id', () => {
  it('a node is deregistered; unknown nodes and nodes with a socket are refused', async () => {
    const { call, post, registry } = await startServer();
    await post('/v1/node/register', REGISTER);
    expect(await call('DELETE', '/v1/node/node-123')).toMatchObject({
      status: 200,
      body: { ok: true, node_id: 'node-123' },
    });
    expect(registry.commands).toEqual([['node-123', 'remove']]);
    expect(await call('DELETE', '/v1/node/nobody')).toMatchObject({ status: 404, body: { field: '/id' } });
    registry.connect('node-123');
    const refused = await call('DELETE', '/v1/node/node-123');
    expect(refused).toMatchObject({ status: 400, body: { error: 'INVALID_MESSAGE', field: '/id' } });
    expect(refused.body.hint).toContain('socket');
  });
});

describe('reports of nodes', () => {
  it('a report is accepted, or answered as too late', async () => {
    const { post, engine } = await startServer();
    expect((await post('/v1/job/ack', REPORT)).body).toEqual({
      ok: true,
      accepted: false,
      reason: 'unknown_job',
    });
    engine.answerWith({ kind: 'accepted', job: {} as never });
    for (const path of ['ack', 'done']) {
      const { status, body } = await post(`/v1/job/${path}`, {
        ...REPORT,
        ...(path === 'done' ? { status: 'ok' } : {}),
      });
      expect({ status, body }).toEqual({ status: 200, body: { ok: true, accepted: true } });
    }
    await post('/v1/job/fail', { ...REPORT, status: 'error', reason: 'MODEL_LOAD_FAILED' });
    expect(engine.answers.at(-1)).toEqual([
      'fail',
      { nodeId: 'node-123', jobId: 'job-abc', attempt: 1 },
      { code: 'MODEL_LOAD_FAILED', message: 'MODEL_LOAD_FAILED' },
    ]);
  });

  it('partial text is passed on for the running attempt only', async () => {
    const { post, engine, partials } = await startServer();
    const late = await post('/v1/job/partial', { ...REPORT, text: 'hel' });
    expect(late.body).toEqual({ ok: true, accepted: false, reason: 'unknown_job' });
    engine.answerWith({ kind: 'accepted', job: {} as never });
    expect((await post('/v1/job/partial', { ...REPORT, text: 'hel' })).body.accepted).toBe(true);
    await post('/v1/job/partial', { ...REPORT, text: 'hello', is_final: true });
    expect(partials).toEqual([
      ['job-abc', 'hel', false, 'node-123'],
      ['job-abc', 'hello', true, 'node-123'],
    ]);
    const bad = await post('/v1/job/partial', REPORT);
    expect(bad).toMatchObject({ status: 400, body: { error: 'INVALID_MESSAGE', field: '/text' } });
  });

  it('a report carries the result and additional fields', async () => {
    const { post, engine } = await startServer();
    await post('/v1/job/done', {
      ...REPORT,
      text_asr: 'hello',
      text_translated: '你好',
      tts_audio: 'AAAA',
      tts_format: 'opus',
      processing_time_ms: 12,
      quality_score: 0.9,
      extra: { emotion: 'calm', own_key: [1] },
    });
    expect(engine.answers.at(-1)?.[2]).toEqual({
      textAsr: 'hello',
      textTranslated: '你好',
      ttsAudio: 'AAAA',
      ttsFormat: 'opus',
      processingTimeMs: 12,
      extra: { emotion: 'calm', own_key: [1] },
      details: { quality_score: 0.9 },
    });
  });

  it.each([
    ['ack', { ...REPORT, attempt_id: 0 }, '/attempt_id'],
    ['ack', { ...REPORT, job_id: null }, '/job_id'],
    ['done', { ...REPORT, status: 'error' }, '/status'],
    ['done', { ...REPORT, extra: 'x' }, '/extra'],
    ['fail', REPORT, '/reason'],
    ['fail', { ...REPORT, reason: 'X', node_id: '' }, '/node_id'],
  ])('%s names the invalid field of %j', async (path, body, field) => {
    const { post } = await startServer();
    expect(await post(`/v1/job/${path}`, body)).toMatchObject({
      status: 400,
      body: { error: 'INVALID_MESSAGE', field },
    });
  });

  it('only the credential that registered a node may report for it', async () => {
    const { post, get } = await startServer({ access: { tokens: TOKENS } });
    const pinned = bearer('pinned-token');
    const other = bearer('node-token');
    const register = (nodeId: string, who: Record<string, string>) =>
      post('/v1/node/register', { ...REGISTER, node_id: nodeId }, who);
    expect((await register('node-2', pinned)).status).toBe(403);
    expect((await register('node-1', pinned)).status).toBe(200);
    const report = { ...REPORT, node_id: 'node-1', reason: 'X', text: 'hel' };
    for (const path of [
      '/v1/job/ack',
      '/v1/job/partial',
      '/v1/job/done',
      '/v1/job/fail',
      '/v1/node/heartbeat',
    ]) {
      expect(await post(path, report, other)).toMatchObject({ status: 403, body: { field: '/node_id' } });
      expect((await post(path, report, pinned)).status).toBe(200);
      expect((await post(path, report, bearer('operator-token'))).status).toBe(200);
      expect((await post(path, { ...report, node_id: 'node-2' }, pinned)).status).toBe(403);
    }
    expect((await get('/v1/node/node-1/jobs', other)).status).toBe(403);
    expect((await get('/v1/node/node-1/jobs', pinned)).status).toBe(200);
  });
});

const connections = (server: Awaited<ReturnType<typeof startServer>>['server']): Promise<number> =>
  new Promise((resolve) => server.app.server.getConnections((_error, count) => resolve(count)));
