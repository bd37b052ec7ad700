import { describe, expect, it } from 'vitest';
import { isNewer } from '../../../src/transport/http/views/job-events.ts';
import { eventually } from '../../support/eventually.ts';
import { TOKENS } from '../access/settings.ts';
import { bearer, DISPATCH, startServer } from './start-server.ts';

async function withJob(
  options: Parameters<typeof startServer>[0] = {},
  headers: Record<string, string> = {},
) {
  const started = await startServer(options);
  const { body } = await started.post('/v1/dispatch/f2f', DISPATCH, headers);
  return { ...started, jobId: body.job_id as string };
}

const RESULT = { textAsr: 'hello', textTranslated: '你好', ttsAudio: '', ttsFormat: '' };

describe('GET /v1/job/:id', () => {
  it('shows the job, its life and its result', async () => {
    const { get, engine, jobId } = await withJob();
    engine.move(jobId, 'RUNNING');
    engine.move(jobId, 'FINISHED', {
      result: { ...RESULT, extra: { own_key: 1 }, details: { quality_score: 1 } },
    });
    const { status, body } = await get(`/v1/job/${jobId}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      job_id: jobId,
      state: 'FINISHED',
      node_id: 'node-1',
      attempt_id: 1,
      session_id: 'room-888',
      src_lang: 'en',
      result: {
        success: true,
        text_asr: 'hello',
        text_translated: '你好',
        extra: { own_key: 1 },
        quality_score: 1,
      },
    });
    expect(body.timeline.map(({ state }: { state: string }) => state)).toEqual([
      'DISPATCHED',
      'RUNNING',
      'FINISHED',
    ]);
  });

  it('shows why a job failed', async () => {
    const { get, engine, jobId } = await withJob();
    engine.move(jobId, 'FAILED', { failure: { code: 'JOB_TIMEOUT', message: 'nobody answered' } });
    expect((await get(`/v1/job/${jobId}`)).body).toMatchObject({
      reason: 'JOB_TIMEOUT',
      result: { success: false, error: { code: 'JOB_TIMEOUT', message: 'nobody answered' } },
    });
  });

  it('waits for the end, and no longer', async () => {
    const { get, engine, jobId } = await withJob();
    const waiting = get(`/v1/job/${jobId}?wait_ms=20000`);
    setImmediate(() => {
      engine.move(jobId, 'RUNNING');
      engine.move(jobId, 'FINISHED', { result: RESULT });
    });
    expect((await waiting).body.state).toBe('FINISHED');
    expect((await get(`/v1/job/${jobId}?wait_ms=20000`)).body.state).toBe('FINISHED');
  });

  it('shows the job as it is when the wait ends', async () => {
    const { get, jobId } = await withJob();
    expect((await get(`/v1/job/${jobId}?wait_ms=5`)).body.state).toBe('DISPATCHED');
  });

  it("is for the job's tenant and for operators; to others it is absent", async () => {
    const { get, post, jobId } = await withJob({ access: { tokens: TOKENS } }, bearer('acme-token'));
    const path = `/v1/job/${jobId}`;
    expect((await get(path, bearer('acme-token'))).status).toBe(200);
    expect((await get(path, bearer('operator-token'))).status).toBe(200);
    const foreign = await get(path, bearer('globex-token'));
    const absent = await get('/v1/job/job-unknown', bearer('globex-token'));
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(absent.body);
    expect((await get(`${path}/events`, bearer('globex-token'))).body).toEqual(absent.body);
    expect((await post(`${path}/cancel`, {}, bearer('globex-token'))).body).toEqual(absent.body);
    expect((await get(path, bearer('acme-token'))).body.state).toBe('DISPATCHED');
    expect((await get(path, bearer('node-token'))).status).toBe(403);
  });
});

describe('POST /v1/job/:id/cancel', () => {
  it('cancels once, with or without a body', async () => {
    const { post, jobId } = await withJob();
    expect((await post(`/v1/job/${jobId}/cancel`)).body).toEqual({
      ok: true,
      accepted: true,
      state: 'FAILED',
    });
    expect((await post(`/v1/job/${jobId}/cancel`, { reason: 'again' })).body).toEqual({
      ok: true,
      accepted: false,
      state: 'FAILED',
      reason: 'settled',
    });
  });

  it('names the field that is wrong', async () => {
    const { post, jobId } = await withJob();
    expect(await post(`/v1/job/${jobId}/cancel`, { reason: 1 })).toMatchObject({
      status: 400,
      body: { field: '/reason' },
    });
    expect(await post('/v1/job/a%20b/cancel')).toMatchObject({ status: 400, body: { field: '/id' } });
  });
});

describe('GET /v1/job/:id/events', () => {
  it('tells every move and ends when the job is settled', async () => {
    const { url, engine, jobId } = await withJob();
    const response = await fetch(`${url}/v1/job/${jobId}/events`);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    engine.move(jobId, 'RUNNING');
    engine.move(jobId, 'FINISHED', { result: RESULT });
    engine.move(jobId, 'RELEASED');
    const events = (await response.text()).split('\n\n').filter((event) => event !== '');
    const states = events.map((event) => JSON.parse(event.split('\ndata: ')[1] ?? '').state);
    expect(states).toEqual(['DISPATCHED', 'RUNNING', 'FINISHED']);
    expect(events.at(-1)).toMatch(/^id: end\nevent: job\n/);
  });

  it('of a settled job is one event, and nothing for who has seen the end', async () => {
    const { get, engine, jobId } = await withJob();
    engine.move(jobId, 'FAILED', { failure: { code: 'JOB_TIMEOUT', message: '' } });
    expect((await get(`/v1/job/${jobId}/events`)).body.match(/event: job/g)).toHaveLength(1);
    expect((await get(`/v1/job/${jobId}/events`, { 'last-event-id': 'end' })).status).toBe(204);
  });

  it('sends comments while nothing happens', async () => {
    const { url, jobId, engine } = await withJob({ settings: { eventHeartbeatMs: 5 } });
    const response = await fetch(`${url}/v1/job/${jobId}/events`);
    const reader = response.body?.getReader();
    let text = '';
    await eventually(async () => {
      text += Buffer.from((await reader?.read())?.value ?? []).toString();
      return text.includes(': still here\n\n');
    });
    engine.move(jobId, 'FAILED');
    expect(text).toContain('"state":"DISPATCHED"');
  });

  it('stops listening when the client goes away', async () => {
    const { url, jobId, events, engine } = await withJob();
    const leaving = new AbortController();
    const response = await fetch(`${url}/v1/job/${jobId}/events`, { signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    // The listeners are bounded: a hundred more fit only if this one is gone.
    await eventually(() => {
      const taken = Array.from({ length: 100 }, () => events.subscribe(jobId, () => {}));
      const fits = taken.every(({ kind }) => kind === 'subscribed');
      for (const one of taken) if (one.kind === 'subscribed') one.stop();
      return fits;
    });
    engine.move(jobId, 'RUNNING');
  });

  it('ends when the server closes', async () => {
    const { url, jobId, server } = await withJob();
    const response = await fetch(`${url}/v1/job/${jobId}/events`);
    const text = response.text();
    await server.close();
    expect(await text).toContain('"state":"DISPATCHED"');
  });

  it('carries a result of any size', async () => {
    const { get, engine, jobId } = await withJob();
    const ttsAudio = 'A'.repeat(6 * 1024 * 1024);
    engine.move(jobId, 'FINISHED', { result: { ...RESULT, ttsAudio } });
    expect((await get(`/v1/job/${jobId}/events`)).body.length).toBeGreaterThan(ttsAudio.length);
  });

  it('gives its place back when the job cannot be read', async () => {
    let reads = 0;
    const { get, engine, jobId } = await withJob({ settings: { maxWaits: 1 } });
    const { get: read } = engine.store;
    engine.store.get = async (id) => {
      reads += 1;
      // The first reading decides who may see the job, the second begins the stream.
      if (reads === 2) throw new Error('the store is away');
      return read(id);
    };
    expect((await get(`/v1/job/${jobId}/events`)).status).toBe(500);
    engine.move(jobId, 'FINISHED', { result: RESULT });
    expect((await get(`/v1/job/${jobId}/events`)).status).toBe(200);
  });

  it('is refused when too many listen already', async () => {
    const { get, jobId, events } = await withJob();
    for (let count = 0; count < 100; count += 1) events.subscribe('other', () => {});
    expect(await get(`/v1/job/${jobId}/events`)).toMatchObject({
      status: 429,
      body: { error: 'RATE_LIMITED' },
    });
  });
});

describe('a newer record', () => {
  const entry = (state: string, at: number) => ({ state, at, attempt: 1 });
  const job = (...timeline: unknown[]) => ({ timeline }) as never;
  const created = entry('CREATED', 1);
  const reserved = entry('RESERVED', 1);
  const running = entry('RUNNING', 2);

  it('is told from an older one within the same millisecond, and with its middle dropped', () => {
    expect(isNewer(job(created, reserved), job(created))).toBe(true);
    expect(isNewer(job(created), job(created, reserved))).toBe(false);
    expect(isNewer(job(created, running), job(created, reserved))).toBe(true);
    expect(isNewer(job(created, reserved), job(created, running))).toBe(false);
    expect(isNewer(job(created), job(created))).toBe(false);
    expect(isNewer(job(created), job())).toBe(true);
    expect(isNewer(job(), job(created))).toBe(false);
  });
});
