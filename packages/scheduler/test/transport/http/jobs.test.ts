import { describe, expect, it } from 'vitest';
import { isNewer } from '../../../src/transport/http/views/job-events.ts';
import { unwrapWav } from '../../../src/transport/wire/unwrap-wav.ts';
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
  it('a job is shown with its history and result', async () => {
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

  it('a failed job is shown with its error', async () => {
    const { get, engine, jobId } = await withJob();
    engine.move(jobId, 'FAILED', { failure: { code: 'JOB_TIMEOUT', message: 'no node answered' } });
    expect((await get(`/v1/job/${jobId}`)).body).toMatchObject({
      reason: 'JOB_TIMEOUT',
      result: { success: false, error: { code: 'JOB_TIMEOUT', message: 'no node answered' } },
    });
  });

  it('wait_ms waits for the end, and no longer', async () => {
    const { get, engine, jobId } = await withJob();
    const waiting = get(`/v1/job/${jobId}?wait_ms=20000`);
    setImmediate(() => {
      engine.move(jobId, 'RUNNING');
      engine.move(jobId, 'FINISHED', { result: RESULT });
    });
    expect((await waiting).body.state).toBe('FINISHED');
    expect((await get(`/v1/job/${jobId}?wait_ms=20000`)).body.state).toBe('FINISHED');
  });

  it('the present state is returned when the wait ends', async () => {
    const { get, jobId } = await withJob();
    expect((await get(`/v1/job/${jobId}?wait_ms=5`)).body.state).toBe('DISPATCHED');
  });

  it('a job is visible to its tenant and operators only', async () => {
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
  it('a job is cancelled once, with or without a body', async () => {
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

  it('an invalid cancel names the field', async () => {
    const { post, jobId } = await withJob();
    expect(await post(`/v1/job/${jobId}/cancel`, { reason: 1 })).toMatchObject({
      status: 400,
      body: { field: '/reason' },
    });
    expect(await post('/v1/job/a%20b/cancel')).toMatchObject({ status: 400, body: { field: '/id' } });
  });
});

describe('GET /v1/job/:id/events', () => {
  it('every move is streamed until the job is settled', async () => {
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

  it('partial texts of the current node are streamed', async () => {
    const { url, engine, jobId, partialTexts } = await withJob();
    const response = await fetch(`${url}/v1/job/${jobId}/events`);
    partialTexts.publish(jobId, { jobId, nodeId: 'node-1', text: 'hel', isFinal: false });
    partialTexts.publish(jobId, { jobId, nodeId: 'node-before', text: 'other', isFinal: false });
    partialTexts.publish('job-other', {
      jobId: 'job-other',
      nodeId: 'node-1',
      text: 'other',
      isFinal: false,
    });
    partialTexts.publish(jobId, { jobId, nodeId: 'node-1', text: 'hello', isFinal: true });
    engine.move(jobId, 'FINISHED', { result: RESULT });
    const events = (await response.text())
      .split('\n\n')
      .filter((event) => event.startsWith('event: partial'));
    expect(events.map((event) => JSON.parse(event.split('\ndata: ')[1] ?? ''))).toEqual([
      { job_id: jobId, text: 'hel', is_final: false },
      { job_id: jobId, text: 'hello', is_final: true },
    ]);
  });

  it('a settled job gives one event, and 204 after the last event', async () => {
    const { get, engine, jobId } = await withJob();
    engine.move(jobId, 'FAILED', { failure: { code: 'JOB_TIMEOUT', message: '' } });
    expect((await get(`/v1/job/${jobId}/events`)).body.match(/event: job/g)).toHaveLength(1);
    expect((await get(`/v1/job/${jobId}/events`, { 'last-event-id': 'end' })).status).toBe(204);
  });

  it('comments are sent while the job does not move', async () => {
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

  it('the subscription ends when the client disconnects', async () => {
    const { url, jobId, events, engine } = await withJob();
    const leaving = new AbortController();
    const response = await fetch(`${url}/v1/job/${jobId}/events`, { signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    // Subscriptions are bounded: a hundred more fit only if this one has ended.
    await eventually(() => {
      const taken = Array.from({ length: 100 }, () => events.subscribe(jobId, () => {}));
      const fits = taken.every(({ kind }) => kind === 'subscribed');
      for (const one of taken) if (one.kind === 'subscribed') one.stop();
      return fits;
    });
    engine.move(jobId, 'RUNNING');
  });

  it('streams end when the server closes', async () => {
    const { url, jobId, server } = await withJob();
    const response = await fetch(`${url}/v1/job/${jobId}/events`);
    const text = response.text();
    await server.close();
    expect(await text).toContain('"state":"DISPATCHED"');
  });

  it('a result of any size is streamed', async () => {
    const { get, engine, jobId } = await withJob();
    const ttsAudio = 'A'.repeat(6 * 1024 * 1024);
    engine.move(jobId, 'FINISHED', { result: { ...RESULT, ttsAudio } });
    expect((await get(`/v1/job/${jobId}/events`)).body.length).toBeGreaterThan(ttsAudio.length);
  });

  it('the subscription ends when the job cannot be read', async () => {
    let reads = 0;
    const { get, engine, jobId } = await withJob({ settings: { maxWaits: 1 } });
    const { get: read } = engine.store;
    engine.store.get = async (id) => {
      reads += 1;
      // The first read decides whether the client may see the job, the second starts the stream.
      if (reads === 2) throw new Error('Redis is down');
      return read(id);
    };
    expect((await get(`/v1/job/${jobId}/events`)).status).toBe(500);
    engine.move(jobId, 'FINISHED', { result: RESULT });
    expect((await get(`/v1/job/${jobId}/events`)).status).toBe(200);
  });

  it('a stream beyond the limit is refused', async () => {
    const { get, jobId, events } = await withJob();
    for (let count = 0; count < 100; count += 1) events.subscribe('other', () => {});
    expect(await get(`/v1/job/${jobId}/events`)).toMatchObject({
      status: 429,
      body: { error: 'RATE_LIMITED' },
    });
  });
});

describe('GET /v1/job/:id/audio', () => {
  const speech = (fields: object) => ({ result: { ...RESULT, ttsAudio: 'AQACAA==', ...fields } });

  it('pcm16 is fetched as a wav file that players accept', async () => {
    const { url, engine, jobId } = await withJob();
    engine.move(jobId, 'FINISHED', speech({ ttsFormat: 'pcm16' }));
    const response = await fetch(`${url}/v1/job/${jobId}/audio`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(unwrapWav(Buffer.from(await response.arrayBuffer()))).toEqual({
      kind: 'pcm16',
      samples: Buffer.from([1, 0, 2, 0]),
      sampleRate: 16_000,
    });
  });

  it.each([
    ['mp3', 'audio/mpeg'],
    ['wav', 'audio/wav'],
    ['opus', 'application/octet-stream'],
    ['<html>', 'application/octet-stream'],
  ])('%s is fetched as the node sent it, with type %s', async (ttsFormat, type) => {
    const { url, engine, jobId } = await withJob();
    engine.move(jobId, 'FINISHED', speech({ ttsFormat }));
    const response = await fetch(`${url}/v1/job/${jobId}/audio`);
    expect(response.headers.get('content-type')).toBe(type);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from([1, 0, 2, 0]));
  });

  it('absent audio is answered with 404 and the reason', async () => {
    const { get, post, engine, jobId } = await withJob();
    const detailOf = async (id: string) => {
      const { status, body } = await get(`/v1/job/${id}/audio`);
      expect(status).toBe(404);
      return body.detail;
    };
    expect(await detailOf('job-unknown')).toBe('there is no such job');
    expect(await detailOf(jobId)).toBe('the job has no result yet');
    engine.move(jobId, 'FINISHED', { result: RESULT });
    expect(await detailOf(jobId)).toBe('no speech was requested for this job');
    const dispatch = async () =>
      (await post('/v1/dispatch/f2f', { ...DISPATCH, options: { require_tts: true } })).body.job_id;
    const [silent, large, failed] = [await dispatch(), await dispatch(), await dispatch()];
    engine.move(silent, 'FINISHED', { result: RESULT });
    expect(await detailOf(silent)).toBe('the node sent no spoken translation');
    engine.move(large, 'FINISHED', { result: { ...RESULT, extra: { tts_audio_dropped: true } } });
    expect(await detailOf(large)).toContain('result_inline_max_bytes');
    engine.move(failed, 'FAILED', { failure: { code: 'JOB_TIMEOUT', message: 'late' } });
    expect(await detailOf(failed)).toBe('the job failed: JOB_TIMEOUT');
  });
});

describe('the token in the query', () => {
  it('events and audio accept ?token= as sockets do, other routes do not', async () => {
    const { get, engine, jobId, lines } = await withJob({ access: { tokens: TOKENS } }, bearer('acme-token'));
    engine.move(jobId, 'FINISHED', { result: { ...RESULT, ttsAudio: 'AQACAA==', ttsFormat: 'wav' } });
    for (const part of ['events', 'audio']) {
      const path = `/v1/job/${jobId}/${part}`;
      expect((await get(path)).status).toBe(401);
      expect((await get(`${path}?token=acme-token`)).status).toBe(200);
      expect((await get(`${path}?token=globex-token`)).status).toBe(404);
      expect((await get(`${path}?token=node-token`)).status).toBe(403);
      expect((await get(`${path}?token=wrong`)).status).toBe(401);
    }
    expect((await get(`/v1/job/${jobId}?token=acme-token`)).status).toBe(401);
    expect(lines.join()).not.toContain('acme-token');
  });
});

describe('newer record', () => {
  const entry = (state: string, at: number) => ({ state, at, attempt: 1 });
  const job = (...timeline: unknown[]) => ({ timeline }) as never;
  const created = entry('CREATED', 1);
  const reserved = entry('RESERVED', 1);
  const running = entry('RUNNING', 2);

  it('records of the same millisecond or with dropped history are ordered', () => {
    expect(isNewer(job(created, reserved), job(created))).toBe(true);
    expect(isNewer(job(created), job(created, reserved))).toBe(false);
    expect(isNewer(job(created, running), job(created, reserved))).toBe(true);
    expect(isNewer(job(created, reserved), job(created, running))).toBe(false);
    expect(isNewer(job(created), job(created))).toBe(false);
    expect(isNewer(job(created), job())).toBe(true);
    expect(isNewer(job(), job(created))).toBe(false);
  });
});
