/** privacy.store_texts = false: a result is gone as soon as its client has it. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { joinSdkNode } from './support/sdk-node.ts';
import { INIT, openSession, sessionUrl, spoken } from './support/session-client.ts';
import { AUDIO, type RunningApp, startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

const OUTPUT = { text_asr: 'spoken-by-a-person', text_translated: 'translated-for-a-person' };
const ERASED = { text_asr: '', text_translated: '', extra: { erased: true } };

async function start(toml = ''): Promise<RunningApp> {
  const app = await startApp({ 'privacy.store_texts': false }, toml);
  const token = toml === '' ? undefined : TOKENS.node;
  await joinSdkNode({
    url: app.nodeUrl,
    nodeId: 'node-a',
    onJob: async () => OUTPUT,
    ...(token && { token }),
  });
  if (toml === '') await app.readyNodes(1);
  return app;
}

const erased = (app: RunningApp, jobId: unknown) =>
  eventually(async () => (await app.job(String(jobId))).result?.extra?.erased === true);

describe('without stored texts', () => {
  it('an HTTP client reads a result once, and a repeat finds its job without texts', async () => {
    const app = await start();
    const { job_id: jobId } = await app.dispatch({ request_id: 'r-1' });
    expect((await app.settled(jobId)).result).toMatchObject(OUTPUT);
    await erased(app, jobId);
    expect((await app.dispatch({ request_id: 'r-1' })).job_id).toBe(jobId);
    expect((await app.job(jobId)).result).toMatchObject(ERASED);
  });

  it('POST /v1/translate and the event stream count as reads', async () => {
    const app = await start();
    const fields = { src_lang: 'en', tgt_lang: 'zh', audio: AUDIO };
    const translated = await app.post<{ job_id: string }>('/v1/translate', fields);
    expect(translated.body).toMatchObject(OUTPUT);
    await erased(app, translated.body.job_id);
    const { job_id: jobId } = await app.dispatch();
    expect((await app.get<string>(`/v1/job/${jobId}/events`)).body).toContain(OUTPUT.text_asr);
    await erased(app, jobId);
  });

  it('a session’s result is kept until its client acknowledges it', async () => {
    const app = await start();
    const client = await openSession({ url: sessionUrl(app) });
    client.send(spoken(client, 1));
    const { job_id: jobId, delivery_seq } = await client.outcome();
    await client.handled();
    expect((await app.app.reader.get(String(jobId)))?.result).toMatchObject({ textAsr: OUTPUT.text_asr });
    client.send({ type: 'result_ack', session_id: client.sessionId(), delivery_seq });
    await erased(app, jobId);
  });

  it('a client that does not acknowledge has its result when it was sent', async () => {
    const app = await start();
    const client = await openSession({ url: sessionUrl(app) }, { ...INIT, supports: undefined });
    client.send(spoken(client, 1));
    const outcome = await client.outcome();
    expect(outcome).toMatchObject({ text_translated: OUTPUT.text_translated });
    await erased(app, outcome.job_id);
  });

  it('an operator who reads a job does not take its result away', async () => {
    const app = await start(TOKEN_TOML);
    const fields = { session_id: 's', src_lang: 'en', tgt_lang: 'zh', audio: AUDIO };
    const jobId = await eventually(async () => {
      const { status, body } = await app.post<{ job_id: string }>('/v1/dispatch/f2f', fields, TOKENS.client);
      return status === 200 ? body.job_id : undefined;
    });
    const path = `/v1/job/${jobId}?wait_ms=2000`;
    for (const token of [TOKENS.operator, TOKENS.operator, TOKENS.client])
      expect((await app.get(path, token)).body, token).toMatchObject({ result: OUTPUT });
    await eventually(async () => (await app.app.reader.get(jobId))?.result?.extra?.erased === true);
  });
});
