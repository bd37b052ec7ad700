/** The HTTP story of the dispatch contract, from registration to result, with curl only. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ErrorReply, JobAssign, JobView, TranslateReply } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { wavFile } from '../transport/http/wav-file.ts';
import { curl, curlPost, curlText } from './support/curl.ts';
import { type Placed, startApp } from './support/start-app.ts';

const REGISTER = `{
  "node_id": "node-123",
  "health": "ready",
  "semantic_langs": ["en","zh"],
  "nmt_pairs": [["en","zh"],["zh","en"]],
  "tts_langs": ["en","zh"],
  "max_concurrent_jobs": 2
}`;

const HEARTBEAT = `{
  "node_id": "node-123",
  "health": "ready",
  "current_load": {"gpu": 0.52, "cpu": 0.33},
  "semantic_langs": ["en","zh"],
  "nmt_pairs": [["en","zh"],["zh","en"]],
  "tts_langs": ["en","zh"],
  "max_concurrent_jobs": 2
}`;

const DISPATCH = `{
  "session_id": "room-888",
  "src_lang": "en",
  "tgt_lang": "zh",
  "audio_ref": "blob://...",
  "options": {
    "require_tts": false,
    "preferred_node_id": null
  }
}`;

/** Starting a process per request takes time. */
const PATIENT = { 'scheduler.ack_timeout_ms': 15_000, 'scheduler.reservation_ttl_ms': 20_000 };

async function startStory() {
  const { url } = await startApp(PATIENT);
  return {
    url,
    register: (nodeId = 'node-123') =>
      curlPost(`${url}/v1/node/register`, REGISTER.replace('node-123', nodeId)),
    dispatch: () => curlPost<Placed & ErrorReply>(`${url}/v1/dispatch/f2f`, DISPATCH),
    fetchJobs: (nodeId: string) => curl<{ jobs: JobAssign[] }>(`${url}/v1/node/${nodeId}/jobs?wait_ms=5000`),
    report: (what: 'ack' | 'done' | 'fail', fields: Record<string, unknown>) =>
      curlPost(`${url}/v1/job/${what}`, JSON.stringify(fields)),
    job: (jobId: string, query = '') => curl<JobView>(`${url}/v1/job/${jobId}${query}`),
  };
}

describe('POST /v1/translate with curl only', () => {
  it('a wav file is translated in one line', async () => {
    const story = await startStory();
    await story.register();
    const file = join(await mkdtemp(join(tmpdir(), 'wav-')), 'hello.wav');
    await writeFile(file, wavFile([1, 2, 3], 16_000));
    const url = `${story.url}/v1/translate?src_lang=en&tgt_lang=zh&request_id=hello-1`;
    const line = [url, '-H', 'content-type: audio/wav', '--data-binary', `@${file}`];
    const [translated] = await Promise.all([curl<TranslateReply>(...line), answerOnce(story)]);
    expect(translated).toMatchObject({
      status: 200,
      body: { request_id: 'hello-1', text_asr: 'hello', text_translated: '你好' },
    });
    // A repeat gets the same job and its result; no node has it again.
    expect((await curl<TranslateReply>(...line)).body).toEqual(translated.body);
  });

  it('a language that no node has is refused with the reason', async () => {
    const story = await startStory();
    await story.register();
    const body = '{"src_lang":"en","tgt_lang":"ko","audio":"AAAAAAAAAAA="}';
    const refused = await curlPost<ErrorReply>(`${story.url}/v1/translate`, body);
    const dispatched = await curlPost<ErrorReply>(
      `${story.url}/v1/dispatch/f2f`,
      body.replace('{', '{"session_id":"s",'),
    );
    expect(refused).toMatchObject({ status: 503, body: { error: 'NO_CAPABLE_NODE' } });
    expect(refused).toEqual(dispatched);
  });
});

async function answerOnce(story: Awaited<ReturnType<typeof startStory>>): Promise<void> {
  const { job_id, attempt_id } = await eventually(
    async () => (await story.fetchJobs('node-123')).body.jobs[0],
  );
  const texts = { text_asr: 'hello', text_translated: '你好' };
  await story.report('done', { job_id, attempt_id, node_id: 'node-123', status: 'ok', ...texts });
}

describe('HTTP API with curl only', () => {
  it('a job runs from register to done, with timeline and result', async () => {
    const story = await startStory();
    expect(await story.register()).toMatchObject({
      status: 200,
      body: { ok: true, node_id: 'node-123', status: 'ready', delivery: 'pull' },
    });
    expect(await curlPost(`${story.url}/v1/node/heartbeat`, HEARTBEAT)).toMatchObject({
      status: 200,
      body: { ok: true, status: 'ready' },
    });

    const dispatched = await story.dispatch();
    expect(dispatched).toMatchObject({ status: 200, body: { node_id: 'node-123', attempt_id: 1 } });
    const { job_id } = dispatched.body;

    const { jobs } = (await story.fetchJobs('node-123')).body;
    expect(jobs).toHaveLength(1);
    expect(jobs[0]).toMatchObject({
      type: 'job_assign',
      job_id,
      attempt_id: 1,
      session_id: 'room-888',
      src_lang: 'en',
      tgt_lang: 'zh',
      audio: '',
      audio_ref: { url: 'blob://...' },
    });

    const attempt = { job_id, attempt_id: 1, node_id: 'node-123' };
    expect(await story.report('ack', attempt)).toMatchObject({
      status: 200,
      body: { ok: true, accepted: true },
    });
    expect((await story.job(job_id)).body).toMatchObject({ state: 'RUNNING', node_id: 'node-123' });
    expect(await story.report('done', { ...attempt, status: 'ok' })).toMatchObject({
      status: 200,
      body: { ok: true, accepted: true },
    });

    const { body } = await story.job(job_id, '?wait_ms=2000');
    expect(body.timeline.map(({ state }) => state)).toEqual([
      'CREATED',
      'RESERVED',
      'DISPATCHED',
      'RUNNING',
      'FINISHED',
      'RELEASED',
    ]);
    expect(body).toMatchObject({ state: 'RELEASED', attempt_id: 1, result: { success: true } });
  });

  it('the job returns the text that the node sent with done', async () => {
    const story = await startStory();
    await story.register();
    const { job_id } = (await story.dispatch()).body;
    await story.fetchJobs('node-123');
    const texts = { text_asr: 'hello', text_translated: '你好' };
    await story.report('done', { job_id, attempt_id: 1, node_id: 'node-123', status: 'ok', ...texts });
    expect((await story.job(job_id)).body.result).toMatchObject({ success: true, ...texts });
  });

  it('a failed job is retried on another node', async () => {
    const story = await startStory();
    await Promise.all([story.register('node-a'), story.register('node-b')]);
    const { job_id, node_id: first } = (await story.dispatch()).body;
    const second = first === 'node-a' ? 'node-b' : 'node-a';
    await story.fetchJobs(first);
    await story.report('ack', { job_id, attempt_id: 1, node_id: first });
    const failed = await story.report('fail', {
      job_id,
      attempt_id: 1,
      node_id: first,
      status: 'error',
      reason: 'MODEL_LOAD_FAILED',
    });
    expect(failed).toMatchObject({ status: 200, body: { ok: true, accepted: true } });

    const { jobs } = (await story.fetchJobs(second)).body;
    expect(jobs).toMatchObject([{ job_id, attempt_id: 2 }]);
    await story.report('ack', { job_id, attempt_id: 2, node_id: second });
    await story.report('done', { job_id, attempt_id: 2, node_id: second, status: 'ok' });
    const { body } = await story.job(job_id);
    expect(body).toMatchObject({ node_id: second, attempt_id: 2, result: { success: true } });
    expect(body.timeline).toContainEqual(
      expect.objectContaining({ state: 'RETRYING', reason: 'MODEL_LOAD_FAILED', node_id: first }),
    );
  });

  it('a stale ack, done or fail gets 200 with accepted false', async () => {
    const story = await startStory();
    await story.register();
    const { job_id } = (await story.dispatch()).body;
    const attempt = { job_id, attempt_id: 1, node_id: 'node-123' };
    expect(await story.report('ack', { ...attempt, attempt_id: 7 })).toEqual({
      status: 200,
      body: { ok: true, accepted: false, reason: 'fenced' },
    });
    await story.report('done', attempt);
    const late = { status: 200, body: { ok: true, accepted: false, reason: 'settled' } };
    expect(await story.report('ack', attempt)).toEqual(late);
    expect(await story.report('done', attempt)).toEqual(late);
    expect(await story.report('fail', { ...attempt, reason: 'MODEL_LOAD_FAILED' })).toEqual(late);
    expect(await story.report('ack', { ...attempt, job_id: 'job-nobody-knows' })).toEqual({
      status: 200,
      body: { ok: true, accepted: false, reason: 'unknown_job' },
    });
  });

  it('a refusal has the number of nodes per reason', async () => {
    const story = await startStory();
    await Promise.all([story.register('node-a'), story.register('node-b')]);
    const wish = DISPATCH.replace('"zh"', '"fr"');
    const { status, body } = await curlPost<ErrorReply>(`${story.url}/v1/dispatch/f2f`, wish);
    expect(status).toBe(503);
    expect(body).toMatchObject({
      error: 'NO_CAPABLE_NODE',
      detail:
        'No node supports semantic(en) + nmt(en->fr): 2 of 2 registered nodes are without translation (nmt) en->fr.',
    });
    expect(body.reasons).toEqual([
      {
        reason: 'lang_pair_unsupported',
        count: 2,
        sample_node_ids: expect.arrayContaining(['node-a', 'node-b']),
      },
    ]);
  });

  it('a cancelled job fails, and its late result changes nothing', async () => {
    const story = await startStory();
    await story.register();
    const { job_id } = (await story.dispatch()).body;
    const attempt = { job_id, attempt_id: 1, node_id: 'node-123' };
    await story.report('ack', attempt);
    expect(await curl(`${story.url}/v1/job/${job_id}/cancel`, '-X', 'POST')).toMatchObject({
      status: 200,
      body: { ok: true, accepted: true },
    });
    expect(await story.report('done', attempt)).toMatchObject({ status: 200, body: { accepted: false } });
    expect((await story.job(job_id)).body).toMatchObject({
      reason: 'JOB_CANCELLED',
      result: { success: false, error: { code: 'JOB_CANCELLED' } },
    });
  });

  it('server-sent events follow a job until it ends', async () => {
    const story = await startStory();
    await story.register();
    const { job_id } = (await story.dispatch()).body;
    const following = curlText('-N', `${story.url}/v1/job/${job_id}/events`);
    const attempt = { job_id, attempt_id: 1, node_id: 'node-123' };
    await eventually(async () => (await story.report('ack', attempt)).body.accepted === true);
    await story.report('done', attempt);
    const { status, text } = await following;
    expect(status).toBe(200);
    const events = text.split('\n\n').filter((event) => event !== '');
    const states = events.map((event) => (JSON.parse(event.split('data: ')[1] ?? '{}') as JobView).state);
    expect(states.at(-1)).toBe('RELEASED');
    expect(events.at(-1)).toContain('"FINISHED"');
    expect(events.at(-1)).toContain('id: end');
  });
});
