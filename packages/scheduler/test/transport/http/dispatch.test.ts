import { describe, expect, it } from 'vitest';
import { SchedulerError } from '../../../src/domain/errors.ts';
import { TOKENS } from '../access/settings.ts';
import { bearer, DISPATCH, startServer } from './start-server.ts';

const PATH = '/v1/dispatch/f2f';

describe('POST /v1/dispatch/f2f', () => {
  it('the reply has the job, its node and its attempt', async () => {
    const { post, engine } = await startServer();
    const { status, body } = await post(PATH, {
      ...DISPATCH,
      options: { require_tts: false, preferred_node_id: null },
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      job_id: [...engine.records.keys()][0],
      node_id: 'node-1',
      attempt_id: 1,
      utterance_index: engine.dispatched[0]?.spec.utteranceIndex,
      state: 'DISPATCHED',
    });
    expect(engine.dispatched[0]?.requestId).toBeUndefined();
  });

  it('a request is bound by its body or header id', async () => {
    const { post, engine } = await startServer();
    const byBody = await post(PATH, { ...DISPATCH, request_id: 'r-1' });
    const byHeader = await post(PATH, DISPATCH, { 'idempotency-key': 'r-1' });
    expect(byBody.body.request_id).toBe('r-1');
    expect(byHeader.body.request_id).toBe('r-1');
    const [first, second] = engine.dispatched;
    expect(first?.fingerprint).toBe(second?.fingerprint);
    const both = await post(PATH, { ...DISPATCH, request_id: 'r-1' }, { 'idempotency-key': 'r-2' });
    expect(both).toMatchObject({ status: 400, body: { error: 'INVALID_MESSAGE', field: '/request_id' } });
  });

  it('inline audio is passed on as bytes', async () => {
    const { post, engine } = await startServer();
    const { audio_ref: _, ...rest } = DISPATCH;
    await post(PATH, { ...rest, audio: 'AQIDBA==', audio_format: 'opus', sample_rate: 48_000 });
    expect(engine.dispatched[0]).toMatchObject({
      audio: Buffer.from([1, 2, 3, 4]),
      spec: { audio: { kind: 'held', bytes: 4 }, audioFormat: 'opus', sampleRate: 48_000 },
    });
  });

  it.each([
    [{ ...DISPATCH, session_id: null }, '/session_id'],
    [{ ...DISPATCH, session_id: 'no spaces' }, '/session_id'],
    [{ ...DISPATCH, src_lang: 5 }, '/src_lang'],
    [{ ...DISPATCH, tgt_lang: 'auto' }, '/tgt_lang'],
    [{ ...DISPATCH, wait_ms: 60_001 }, '/wait_ms'],
    [{ ...DISPATCH, options: { strict: 'yes' } }, '/options/strict'],
    [{ ...DISPATCH, audio_ref: null, audio: '%%%' }, '/audio'],
    [{ ...DISPATCH, audio_ref: null, audio: 'AAAA', audio_format: 'wav' }, '/audio'],
    [{ ...DISPATCH, audio: 'AAAA' }, '/audio_ref'],
    [{ ...DISPATCH, audio_format: 'mp3' }, '/audio_format'],
  ])('the invalid field of %j is named', async (body, field) => {
    const { post, engine, counts } = await startServer();
    const answer = await post(PATH, body);
    expect(answer).toMatchObject({ status: 400, body: { error: 'INVALID_MESSAGE', field } });
    expect(answer.body.detail).not.toBe('');
    expect(answer.body.hint).not.toBe('');
    expect(engine.dispatched).toEqual([]);
    expect([...counts.keys()].filter((key) => key.includes('5'))).toEqual([]);
  });

  it('a request without audio and reference is refused', async () => {
    const { post } = await startServer();
    const { status, body } = await post(PATH, { ...DISPATCH, audio_ref: null });
    expect(status).toBe(400);
    expect(body.detail).toContain('audio_ref');
    expect(body.field).toBe('/audio_ref');
  });

  it('a refusal has its reasons and retry_after_ms', async () => {
    const { post, engine } = await startServer();
    engine.refuseWith({
      kind: 'refused',
      code: 'ALL_CANDIDATES_FULL_OR_FAILED',
      message: 'all 3 nodes are busy',
      reasons: [{ reason: 'capacity_exceeded', count: 3, sampleNodeIds: ['node-1', 'node-2'] }],
    });
    const { status, headers, body } = await post(PATH, DISPATCH);
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    expect(body).toEqual({
      error: 'ALL_CANDIDATES_FULL_OR_FAILED',
      detail: 'all 3 nodes are busy',
      hint: expect.any(String),
      reasons: [{ reason: 'capacity_exceeded', count: 3, sample_node_ids: ['node-1', 'node-2'] }],
      retry_after_ms: 1_000,
    });
  });

  it('a permanent refusal has no retry_after_ms', async () => {
    const { post, engine } = await startServer();
    engine.refuseWith({ kind: 'refused', code: 'IDEMPOTENCY_CONFLICT', message: 'another body' });
    const { status, headers, body } = await post(PATH, DISPATCH);
    expect(status).toBe(409);
    expect(headers.get('retry-after')).toBeNull();
    expect(body).not.toHaveProperty('retry_after_ms');
  });

  it('a known fault keeps its code, an unknown one is hidden', async () => {
    const faults = [
      new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', 'Redis is down'),
      new Error('internal secret'),
      'not an Error',
    ];
    const { post, lines } = await startServer({
      services: {
        jobs: {
          dispatch: async () => {
            throw faults.shift();
          },
        } as never,
      },
    });
    const known = await post(PATH, DISPATCH);
    expect(known).toMatchObject({
      status: 503,
      body: { error: 'SCHEDULER_DEPENDENCY_DOWN', detail: 'Redis is down' },
    });
    expect(lines.filter((line) => line.includes('"error"'))).toEqual([]);
    for (let count = 0; count < 2; count += 1) {
      const unknown = await post(PATH, DISPATCH);
      expect(unknown).toMatchObject({ status: 500, body: { error: 'INTERNAL_ERROR' } });
      expect(JSON.stringify(unknown.body)).not.toMatch(/secret|not even/);
    }
    expect(lines.filter((line) => line.includes('request failed'))).toHaveLength(2);
    expect(lines.join('')).toContain('internal secret');
  });

  it("the token's tenant is used, and naming another is refused", async () => {
    const { post, engine } = await startServer({ access: { tokens: TOKENS } });
    const acme = bearer('acme-token');
    expect((await post(PATH, DISPATCH, acme)).status).toBe(200);
    expect((await post(PATH, { ...DISPATCH, tenant_id: 'acme' }, acme)).status).toBe(200);
    expect(engine.dispatched.map(({ tenantId }) => tenantId)).toEqual(['acme', 'acme']);
    expect(await post(PATH, { ...DISPATCH, tenant_id: 'globex' }, acme)).toMatchObject({
      status: 403,
      body: { error: 'FORBIDDEN', field: '/tenant_id' },
    });
  });

  it('a draining server refuses dispatches', async () => {
    const { post, readiness, get } = await startServer();
    readiness.isReady = false;
    readiness.reasons.push('draining');
    const { status, headers, body } = await post(PATH, DISPATCH);
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('2');
    expect(body.detail).toContain('shutting down');
    expect((await get('/v1/job/job-1')).status).toBe(404);
  });
});
