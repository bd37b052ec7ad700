/** POST /v1/translate: one call with audio in and the translation out. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { TOKENS } from '../access/settings.ts';
import { bearer, type StartOptions, startServer } from './start-server.ts';
import { wavFile } from './wav-file.ts';

const PATH = '/v1/translate';
const BODY = { src_lang: 'en', tgt_lang: 'zh', audio: 'AQIDBA==' };
const RESULT = { textAsr: 'hello', textTranslated: '你好', ttsAudio: 'AAAA', ttsFormat: 'pcm16' };

/** A server whose jobs end as soon as they are dispatched. */
async function startEnding(
  end: 'FINISHED' | { code: string; message: string } = 'FINISHED',
  options: StartOptions = {},
) {
  const started = await startServer(options);
  const { engine } = started;
  const { dispatch } = engine.jobs;
  engine.jobs.dispatch = async (request) => {
    const outcome = await dispatch(request);
    if (outcome.kind === 'dispatched') {
      if (end === 'FINISHED') engine.move(outcome.job.jobId, 'FINISHED', { result: RESULT });
      else engine.move(outcome.job.jobId, 'FAILED', { failure: end });
    }
    return outcome;
  };
  return started;
}

describe('one call', () => {
  it('POST /v1/translate answers with the translation', async () => {
    const { post, engine } = await startEnding();
    const { status, body } = await post(PATH, { ...BODY, request_id: 'r-1' });
    expect(status).toBe(200);
    expect(body).toEqual({
      job_id: [...engine.records.keys()][0],
      request_id: 'r-1',
      src_lang: 'en',
      tgt_lang: 'zh',
      text_asr: 'hello',
      text_translated: '你好',
      tts_audio: 'AAAA',
      tts_format: 'pcm16',
    });
  });

  it('unknown fields are named in warnings, whatever the answer is', async () => {
    const body = { ...BODY, tgt_lnag: 'de', require_tts: true };
    const warnings = [
      '"tgt_lnag" is ignored: there is no such field; did you mean "tgt_lang"?',
      '"require_tts" is ignored: it belongs in "options"',
    ];
    const failure = { code: 'JOB_TIMEOUT', message: 'too late' };
    const finished = await (await startEnding()).post(PATH, body);
    const failed = await (await startEnding(failure)).post(PATH, body);
    const { post } = await startServer();
    const pending = await post(PATH, { ...body, wait_ms: 0 });
    const refused = await post(PATH, { ...body, text: 'as well as audio' });
    expect([finished, pending].map(({ status }) => status)).toEqual([200, 202]);
    expect(refused.body).toMatchObject({ error: 'INVALID_MESSAGE', field: '/text' });
    for (const answer of [finished, failed, pending, refused]) expect(answer.body.warnings).toEqual(warnings);
  });

  it('the detected language of auto has its own field', async () => {
    const { post, engine } = await startServer();
    const waiting = post(PATH, {
      ...BODY,
      src_lang: 'auto',
      lang_a: 'de',
      lang_b: 'zh',
      mode: 'two_way_auto',
    });
    const jobId = await eventually(() => [...engine.records.keys()][0]);
    engine.move(jobId, 'FINISHED', { result: { ...RESULT, details: { detected_language: 'de' } } });
    expect((await waiting).body).toMatchObject({ src_lang: 'auto', detected_language: 'de' });
  });

  it('it waits for a job that ends later', async () => {
    const { post, engine } = await startServer();
    const waiting = post(PATH, BODY);
    const jobId = await eventually(() => [...engine.records.keys()][0]);
    engine.move(jobId, 'FINISHED', { result: RESULT });
    expect((await waiting).body).toMatchObject({ job_id: jobId, text_translated: '你好' });
  });

  it('a wav file may be the body, with the languages in the query', async () => {
    const { url, engine } = await startEnding();
    const response = await fetch(`${url}${PATH}?src_lang=en&tgt_lang=zh&require_tts=true&wait_ms=1000`, {
      method: 'POST',
      headers: { 'content-type': 'audio/wav' },
      body: wavFile([1, 2, 3], 8_000),
    });
    expect(response.status).toBe(200);
    expect(engine.dispatched[0]).toMatchObject({
      audio: Buffer.from([1, 0, 2, 0, 3, 0]),
      waitMs: 1_000,
      spec: { audioFormat: 'pcm16', sampleRate: 8_000, pipeline: { use_tts: true } },
    });
  });

  it('samples may be the body, described in the query', async () => {
    const { url, engine } = await startEnding();
    const query = 'src_lang=en&tgt_lang=zh&audio_format=opus&sample_rate=48000';
    const headers = { 'content-type': 'application/octet-stream' };
    await fetch(`${url}${PATH}?${query}`, { method: 'POST', headers, body: Buffer.from([1, 2]) });
    expect(engine.dispatched[0]).toMatchObject({
      audio: Buffer.from([1, 2]),
      spec: { audioFormat: 'opus', sampleRate: 48_000 },
    });
  });

  it('a body of another type is refused with the types that are accepted', async () => {
    const { url, post } = await startServer();
    // As curl sends --data-binary without a header.
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const form = await fetch(url + PATH, { method: 'POST', headers, body: 'RIFF' });
    expect(form.status).toBe(415);
    expect(await form.json()).toMatchObject({ hint: expect.stringContaining('content-type: audio/wav') });
    // The other routes still take JSON only.
    const dispatch = await post('/v1/dispatch/f2f', 'RIFF', { 'content-type': 'audio/wav' });
    expect(dispatch.status).toBe(415);
  });

  it.each([
    [{ ...BODY, audio: undefined }, '/audio'],
    [{ ...BODY, src_lang: undefined }, '/src_lang'],
    [{ ...BODY, wait_ms: 60_001 }, '/wait_ms'],
    [{ ...BODY, audio: 'AAAA', audio_format: 'wav' }, '/audio'],
    [{ ...BODY, text: 'both' }, '/text'],
    [{ src_lang: 'en', tgt_lang: 'zh', text: ' ' }, '/text'],
    [{ src_lang: 'auto', tgt_lang: 'zh', text: 'hi' }, '/src_lang'],
    [
      {
        src_lang: 'en',
        tgt_lang: 'zh',
        text: 'hi',
        pipeline: { use_asr: true, use_nmt: true, use_tts: false },
      },
      '/text',
    ],
  ])('the invalid field of %j is named', async (body, field) => {
    const { post, engine } = await startServer();
    expect(await post(PATH, body)).toMatchObject({ status: 400, body: { error: 'INVALID_MESSAGE', field } });
    expect(engine.dispatched).toEqual([]);
  });

  it('an invalid field of the query is named', async () => {
    const { post } = await startServer();
    expect(await post(`${PATH}?wait_ms=soon`, BODY)).toMatchObject({
      status: 400,
      body: { field: '/wait_ms' },
    });
  });

  it('text is dispatched without recognition and repair', async () => {
    const { post, engine } = await startEnding();
    const text = { src_lang: 'en', tgt_lang: 'zh', text: 'hello', options: { require_tts: true } };
    expect((await post(PATH, text)).status).toBe(200);
    expect(engine.dispatched).toMatchObject([
      {
        audio: undefined,
        need: { isTextInput: true, skipsSemantic: true, usesAsr: false, usesNmt: true, usesTts: true },
        spec: { inputText: 'hello', audio: { kind: 'none' } },
      },
    ]);
  });
});

describe('the reason instead of a translation', () => {
  it('a refused job is answered as a refused dispatch', async () => {
    const { post, engine } = await startServer();
    const reasons = [{ reason: 'full', count: 1, sampleNodeIds: ['node-1'] }] as never;
    engine.refuseWith({ kind: 'refused', code: 'ALL_CANDIDATES_FULL_OR_FAILED', message: 'full', reasons });
    const translated = await post(PATH, BODY);
    expect(translated).toMatchObject({ status: 503, body: { error: 'ALL_CANDIDATES_FULL_OR_FAILED' } });
    expect(translated.headers.get('retry-after')).toBe('1');
    const dispatched = await post('/v1/dispatch/f2f', { session_id: 's', ...BODY });
    expect(translated.body).toEqual(dispatched.body);
  });

  it('a failed job is answered with the status of its code and its job_id', async () => {
    const { post, engine } = await startEnding({ code: 'JOB_TIMEOUT', message: 'no node answered' });
    const { status, headers, body } = await post(PATH, BODY);
    expect(status).toBe(504);
    expect(headers.get('retry-after')).toBe('1');
    expect(body).toMatchObject({
      error: 'JOB_TIMEOUT',
      detail: 'no node answered',
      job_id: [...engine.records.keys()][0],
      retry_after_ms: 1_000,
    });
  });

  it('a code of the node itself is in the detail of PROCESSING_ERROR', async () => {
    const { post } = await startEnding({ code: 'GPU_LOST', message: 'no device' });
    expect(await post(PATH, BODY)).toMatchObject({
      status: 502,
      body: { error: 'PROCESSING_ERROR', detail: 'GPU_LOST: no device' },
    });
  });

  it('a wait that ends before the job gets 202 with the path of the job', async () => {
    const { post, get, engine } = await startServer();
    const { status, headers, body } = await post(PATH, { ...BODY, wait_ms: 0 });
    const [jobId = ''] = engine.records.keys();
    expect(status).toBe(202);
    expect(body).toEqual({ job_id: jobId, state: 'DISPATCHED', url: `/v1/job/${jobId}` });
    expect(headers.get('location')).toBe(body.url);
    engine.move(jobId, 'FINISHED', { result: RESULT });
    expect((await get(body.url)).body.result).toMatchObject({ success: true, text_asr: 'hello' });
  });
});

describe('the same rules as a dispatch', () => {
  it('the same audio as JSON and as a file has the same fingerprint', async () => {
    const { url, post, engine } = await startEnding();
    const file = wavFile([1, 2, 3], 8_000);
    const audio = Buffer.from(file).toString('base64');
    const key = { 'idempotency-key': 'r-1' };
    await post(PATH, { ...BODY, audio, audio_format: 'wav' }, key);
    const headers = { 'content-type': 'audio/wav', ...key };
    await fetch(`${url}${PATH}?src_lang=en&tgt_lang=zh`, { method: 'POST', headers, body: file });
    const [first, second] = engine.dispatched;
    expect(first?.requestId).toBe('r-1');
    expect(second).toMatchObject({ requestId: 'r-1', fingerprint: first?.fingerprint });
    // Each has a session of its own, so that legacy nodes do not connect them.
    expect(second?.sessionId).not.toBe(first?.sessionId);
  });

  it('the tenant is that of the token', async () => {
    const { post, engine } = await startEnding('FINISHED', { access: { tokens: TOKENS } });
    expect((await post(PATH, BODY)).status).toBe(401);
    expect((await post(PATH, BODY, bearer('node-token'))).status).toBe(403);
    const foreign = await post(PATH, { ...BODY, tenant_id: 'globex' }, bearer('acme-token'));
    expect(foreign).toMatchObject({ status: 403, body: { field: '/tenant_id' } });
    await post(PATH, BODY, bearer('acme-token'));
    expect(engine.dispatched.map(({ tenantId }) => tenantId)).toEqual(['acme']);
  });

  it('a draining instance refuses it', async () => {
    const { post, readiness } = await startServer();
    readiness.reasons.push('draining');
    expect((await post(PATH, BODY)).status).toBe(503);
  });

  it('too many waiting calls are refused before a job is made', async () => {
    const { post, engine, server } = await startServer({ settings: { maxWaits: 1 } });
    const waiting = post(PATH, BODY);
    const jobId = await eventually(() => [...engine.records.keys()][0]);
    expect(await post(PATH, BODY)).toMatchObject({ status: 429, body: { error: 'RATE_LIMITED' } });
    expect(engine.dispatched).toHaveLength(1);
    engine.move(jobId, 'FINISHED', { result: RESULT });
    expect((await waiting).status).toBe(200);
    expect(server.waits('caller')).toBe(0);
  });

  it('the job of a caller that disconnects goes on', async () => {
    const { url, engine, server } = await startServer();
    const leaving = new AbortController();
    const call = fetch(url + PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(BODY),
      signal: leaving.signal,
    }).catch(() => 'left');
    const jobId = await eventually(() => [...engine.records.keys()][0]);
    leaving.abort();
    expect(await call).toBe('left');
    await eventually(() => server.waits('caller') === 0);
    expect(engine.records.get(jobId)?.state).toBe('DISPATCHED');
  });
});
