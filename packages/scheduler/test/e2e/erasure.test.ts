/** DELETE of a job and of a session: what was said is gone, and who may ask for it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EraseReply, JobView } from '@lingua/protocol';
import { NODE_EXTENSIONS } from '@lingua/sdk/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { simulatedCapabilities } from '../../src/cli/simulated-node/simulated-capabilities.ts';
import { eventually } from '../support/eventually.ts';
import { holdJobs, joinSdkNode } from './support/sdk-node.ts';
import { openSession, resume, sessionUrl, spoken } from './support/session-client.ts';
import { startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

const OUTPUT = { text_asr: 'spoken-by-a-person', text_translated: 'translated-for-a-person' };
const ERASED = { text_asr: '', text_translated: '', tts_audio: '', extra: { erased: true } };
const VIEWER = 'viewer-token-0123456789';

async function start(toml = '') {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'audit.jsonl');
  const app = await startApp({ 'audit.file': file }, toml);
  return { app, audit: () => readFileSync(file, 'utf8') };
}

const body = (request_id: string) => ({
  session_id: 'room-1',
  request_id,
  src_lang: 'en',
  tgt_lang: 'zh',
  audio: 'AAAAAAAAAAA=',
});

describe('DELETE /v1/job/:id', () => {
  it('erases the texts, keeps the request bound, and is audited without them', async () => {
    const { app, audit } = await start();
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
    await app.readyNodes(1);
    const { job_id: jobId } = await app.dispatch({ request_id: 'r-1' });
    expect((await app.settled(jobId)).result).toMatchObject(OUTPUT);
    const erased = await app.remove<EraseReply>(`/v1/job/${jobId}`);
    expect(erased.body).toEqual({
      ok: true,
      jobs: 1,
      sessions: 0,
      dead_letters: 0,
      room_utterances: 0,
      done: true,
      unreachable: [],
    });
    expect((await app.job(jobId)).result).toMatchObject(ERASED);
    expect((await app.dispatch({ request_id: 'r-1' })).job_id).toBe(jobId);
    await eventually(() => audit().includes('"eraseJob"'));
    expect(audit()).toContain(jobId);
    expect(audit()).not.toContain('person');
  });

  it('cancels a job that still runs', async () => {
    const { app } = await start();
    const held = holdJobs();
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob: held.onJob });
    await app.readyNodes(1);
    const { job_id: jobId } = await app.dispatch();
    await held.job();
    expect((await app.remove<EraseReply>(`/v1/job/${jobId}`)).body).toMatchObject({ jobs: 1, done: true });
    // A failed job is not bound to its request: nothing of it stays.
    expect((await app.get(`/v1/job/${jobId}`)).status).toBe(404);
  });

  it('erases all jobs of a request for several languages', async () => {
    const { app } = await start();
    for (const [nodeId, stages] of [
      ['hears', ['asr', 'semantic']],
      ['translates', ['nmt']],
    ] as const)
      await joinSdkNode({
        url: app.nodeUrl,
        nodeId,
        capabilities: simulatedCapabilities(['en', 'zh', 'de'], false, stages),
        supports: [...NODE_EXTENSIONS, 'text_input'],
        onJob: async () => OUTPUT,
      });
    await app.readyNodes(2);
    const sent = { src_lang: 'en', tgt_lang: 'zh', tgt_langs: ['zh', 'de'], audio: 'AAAAAAAAAAA=' };
    const { body: translated } = await app.post<{ job_id: string }>('/v1/translate', sent);
    const { body: list } = await app.get<{ jobs: { job_id: string }[] }>('/api/v1/jobs');
    expect(list.jobs).toHaveLength(3);
    const erased = await app.remove<EraseReply>(`/v1/job/${translated.job_id}`);
    expect(erased.body).toMatchObject({ jobs: 3, done: true });
    for (const { job_id: jobId } of list.jobs)
      expect((await app.job(jobId)).result, jobId).toMatchObject(ERASED);
  });

  it('is for the tenant of the job and for operators, never for viewers', async () => {
    const viewer = `[[server.tokens]]\ntoken = "${VIEWER}"\nrole = "viewer"\n`;
    const { app } = await start(TOKEN_TOML + viewer);
    await joinSdkNode({
      url: app.nodeUrl,
      token: TOKENS.node,
      nodeId: 'node-a',
      onJob: async () => OUTPUT,
    });
    const dispatch = (request: string) =>
      eventually(async () => {
        const { status, body: placed } = await app.post<{ job_id: string }>(
          '/v1/dispatch/f2f',
          body(request),
          TOKENS.client,
        );
        return status === 200 ? placed.job_id : undefined;
      });
    const read = async (jobId: string) =>
      (await app.get<JobView>(`/v1/job/${jobId}?wait_ms=2000`, TOKENS.client)).body.result;
    const [one, two] = [await dispatch('r-1'), await dispatch('r-2')];
    for (const [token, status] of [
      [VIEWER, 403],
      [TOKENS.node, 403],
      [TOKENS.otherClient, 404],
    ] as const) {
      expect((await app.remove(`/v1/job/${one}`, token)).status, token).toBe(status);
      expect((await app.remove('/v1/sessions/room-1', token)).status, token).toBe(status);
    }
    expect(await read(one)).toMatchObject(OUTPUT);
    expect((await app.remove(`/v1/job/${one}`, TOKENS.client)).status).toBe(200);
    expect(await read(one)).toMatchObject(ERASED);
    expect(await read(two)).toMatchObject(OUTPUT);
    expect((await app.remove('/v1/sessions/room-1', TOKENS.operator)).status).toBe(200);
    expect(await read(two)).toMatchObject(ERASED);
  });
});

describe('DELETE /v1/sessions/:id', () => {
  it('ends the session and erases its jobs', async () => {
    const { app } = await start();
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
    await app.readyNodes(1);
    const client = await openSession({ url: sessionUrl(app) });
    client.send(spoken(client, 1));
    const { job_id: jobId } = await client.outcome();
    expect((await app.job(String(jobId))).result).toMatchObject(OUTPUT);
    const path = `/v1/sessions/${client.sessionId()}`;
    expect((await app.remove<EraseReply>(path)).body).toMatchObject({ jobs: 1, sessions: 1, done: true });
    await client.closed;
    expect((await app.job(String(jobId))).result).toMatchObject(ERASED);
    expect((await app.remove('/v1/sessions/of-nobody')).status).toBe(404);
  });

  it('replaces an outcome that the client has not acknowledged, if its job is erased', async () => {
    const { app } = await start();
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
    await app.readyNodes(1);
    const client = await openSession({ url: sessionUrl(app) });
    client.send(spoken(client, 1));
    const { job_id: jobId } = await client.outcome();
    await app.remove(`/v1/job/${jobId}`);
    client.cut();
    const again = await resume(sessionUrl(app), client);
    expect(await again.outcome()).toMatchObject({ type: 'missing_result', reason: 'job_failed' });
  });
});
