/** One session as a conversation, and what its client reports about a translation. */
import type { JobDetail, SessionDetail } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { watchLive } from './support/live-stream.ts';
import { joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { connectSession, INIT, sessionUrl } from './support/session-client.ts';
import { AUDIO, startApp } from './support/start-app.ts';

async function startTalk() {
  const app = await startApp();
  await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-1', onJob: () => OUTPUT });
  await app.readyNodes(1);
  const client = connectSession({ url: sessionUrl(app) });
  await client.opened();
  await client.init(INIT);
  client.send({
    type: 'utterance',
    session_id: client.sessionId(),
    utterance_index: 0,
    manual_cut: true,
    src_lang: 'en',
    tgt_lang: 'zh',
    audio: AUDIO,
    audio_format: 'pcm16',
    sample_rate: 16_000,
  });
  const outcome = await client.outcome();
  return { app, client, jobId: String(outcome.job_id) };
}

describe('GET /api/v1/sessions/:id', () => {
  it('has what happened, in order, with texts and stages, also after the end', async () => {
    const { app, client, jobId } = await startTalk();
    const sessionId = client.sessionId();
    const { body } = await app.get<SessionDetail>(`/api/v1/sessions/${sessionId}`);
    expect(body.events.map(({ kind }) => kind)).toEqual(['opened', 'accepted', 'delivered']);
    expect(body.session).toMatchObject({ session_id: sessionId, connected: true });
    expect(body.utterances).toMatchObject([
      { job_id: jobId, text_asr: 'hello', text_translated: '你好', has_audio: false },
    ]);
    expect(body.utterances[0]?.spans.map(({ stage }) => stage)).toContain('run');
    client.send({ type: 'session_close', session_id: sessionId, reason: 'done' });
    const ended = await eventually(async () => {
      const { body: later } = await app.get<SessionDetail>(`/api/v1/sessions/${sessionId}`);
      return later.session === undefined ? later : undefined;
    });
    expect(ended.events.at(-1)?.kind).toBe('closed');
    expect((await app.get('/api/v1/sessions/absent')).status).toBe(404);
  });

  it('names both languages of a two-way session, and the one that was spoken', async () => {
    const app = await startApp();
    const onJob = () => ({ ...OUTPUT, detected_language: 'zh' });
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-1', onJob });
    await app.readyNodes(1);
    const both = { src_lang: 'auto', mode: 'two_way_auto', lang_a: 'en', lang_b: 'zh' };
    const { job_id: jobId } = await app.dispatch(both);
    await app.settled(jobId);
    const { body } = await app.get<JobDetail>(`/api/v1/jobs/${jobId}`);
    expect(body.job).toMatchObject({ lang_a: 'en', lang_b: 'zh', detected_language: 'zh' });
    const { job_id: plainId } = await app.dispatch({ src_lang: 'en', tgt_lang: 'zh' });
    expect((await app.get<JobDetail>(`/api/v1/jobs/${plainId}`)).body.job).not.toHaveProperty('lang_a');
  });

  it('the delivery is the last span of the job', async () => {
    const { app, jobId } = await startTalk();
    const { body } = await app.get<JobDetail>(`/api/v1/jobs/${jobId}`);
    expect(body.spans.at(-1)).toMatchObject({ stage: 'deliver' });
  });
});

describe('POST /v1/job/:id/report', () => {
  it('is shown with its job, in the figures and as attention', async () => {
    const { app, jobId } = await startTalk();
    const live = await watchLive(app.url);
    const report = { kind: 'bad_translation', note: 'not what I said' };
    expect((await app.post(`/v1/job/${jobId}/report`, report)).body).toEqual({ ok: true, kept: true });
    const { body } = await app.get<JobDetail>(`/api/v1/jobs/${jobId}`);
    expect(body.reports).toMatchObject([report]);
    const { data } = await live.next(({ data: { attention = [] } }) =>
      attention.some(({ id }) => id === 'bad_translations'),
    );
    expect(data.attention?.find(({ id }) => id === 'bad_translations')?.params).toEqual({ count: 1 });
    expect((await app.post('/v1/job/absent/report', report)).status).toBe(404);
    expect((await app.post(`/v1/job/${jobId}/report`, { kind: 'bad' })).status).toBe(400);
  });
});
