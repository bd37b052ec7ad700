/** Nodes that registered over HTTP and get their jobs at an endpoint, from the mailbox, or over a socket opened later. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JobAssign } from '@lingua/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { holdJobs, joinSdkNode } from './support/sdk-node.ts';
import { AUDIO, nodesOf, type RunningApp, SHORT_TIMES, startApp } from './support/start-app.ts';

const LOOPBACK = { 'server.endpoint_networks': '127.0.0.0/8' };

const registration = (nodeId: string, fields: Record<string, unknown> = {}) => ({
  node_id: nodeId,
  health: 'ready',
  semantic_langs: ['en', 'zh'],
  tts_langs: ['en', 'zh'],
  max_concurrent_jobs: 2,
  ...fields,
});

interface Endpoint {
  readonly url: string;
  readonly jobs: readonly JobAssign[];
}

/** A node's HTTP server: accepts posted jobs and answers with one status after the other; the last one repeats. */
async function openEndpoint(statuses = [200], headers: Record<string, string> = {}): Promise<Endpoint> {
  const jobs: JobAssign[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      jobs.push(JSON.parse(text) as JobAssign);
      response.writeHead(statuses[jobs.length - 1] ?? statuses.at(-1) ?? 200, headers).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jobs`, jobs };
}

const done = (app: RunningApp, nodeId: string, { job_id, attempt_id }: JobAssign) =>
  app.post('/v1/job/done', {
    job_id,
    attempt_id,
    node_id: nodeId,
    text_asr: 'hello',
    text_translated: '你好',
  });

const take = async (app: RunningApp, nodeId: string, waitMs = 5_000): Promise<JobAssign[]> =>
  (await app.get<{ jobs: JobAssign[] }>(`/v1/node/${nodeId}/jobs?wait_ms=${waitMs}`)).body.jobs;

describe('node with an endpoint', () => {
  it('a node in an allowed network gets its jobs by POST', async () => {
    const app = await startApp(LOOPBACK);
    const endpoint = await openEndpoint();
    const { body } = await app.post('/v1/node/register', registration('node-a', { endpoint: endpoint.url }));
    expect(body).toMatchObject({ ok: true, delivery: 'endpoint' });
    const { job_id, node_id } = await app.dispatch();
    expect(node_id).toBe('node-a');
    const job = await eventually(() => endpoint.jobs[0]);
    expect(job).toMatchObject({ type: 'job_assign', job_id, attempt_id: 1, audio: AUDIO });
    expect((await done(app, 'node-a', job)).body).toMatchObject({ accepted: true });
    expect((await app.settled(job_id)).result).toMatchObject({ success: true, text_translated: '你好' });
  });

  it('an endpoint is refused with a hint if no network is allowed', async () => {
    const app = await startApp();
    const { status, body } = await app.post(
      '/v1/node/register',
      registration('node-a', { endpoint: 'http://127.0.0.1:9/jobs' }),
    );
    expect(status).toBe(403);
    expect(body).toMatchObject({
      error: 'FORBIDDEN',
      field: '/endpoint',
      hint: expect.stringContaining('server.endpoint_networks'),
    });
    expect(await app.nodes()).toEqual([]);
  });

  it('an endpoint outside the allowed networks is refused', async () => {
    const app = await startApp({ 'server.endpoint_networks': '127.0.0.1/32' });
    const register = (endpoint: string) =>
      app.post('/v1/node/register', registration('node-a', { endpoint }));
    expect((await register('http://127.0.0.2:9/jobs')).status).toBe(403);
    expect((await register('http://169.254.169.254/latest/meta-data')).status).toBe(403);
    expect((await register('http://127.0.0.1:9/jobs')).status).toBe(200);
  });

  it.each([
    ['answers 503', 503, {}],
    ['answers with a redirect, which is not followed', 302, { location: 'http://127.0.0.1:9/elsewhere' }],
  ] as const)('the job moves to the next node when an endpoint %s', async (_name, status, headers) => {
    const app = await startApp(LOOPBACK);
    const bad = await openEndpoint([status], headers);
    const good = await openEndpoint();
    await app.post('/v1/node/register', registration('node-bad', { endpoint: bad.url }));
    await app.post('/v1/node/register', registration('node-good', { endpoint: good.url }));
    const { job_id, node_id } = await app.dispatch({ options: { preferred_node_id: 'node-bad' } });
    expect(node_id).toBe('node-good');
    expect([bad.jobs.length, good.jobs.length]).toEqual([1, 1]);
    await done(app, 'node-good', good.jobs[0] as JobAssign);
    expect((await app.settled(job_id)).result).toMatchObject({ success: true });
  });
});

describe('endpoint that failed', () => {
  it("an endpoint is used again after the lost job's lease expired", async () => {
    const app = await startApp({ ...LOOPBACK, ...SHORT_TIMES });
    const endpoint = await openEndpoint([500, 200]);
    await app.post(
      '/v1/node/register',
      registration('node-a', { endpoint: endpoint.url, max_concurrent_jobs: 1 }),
    );
    // The endpoint may have the job: the scheduler waits for its report.
    expect(await app.dispatch()).toMatchObject({ node_id: 'node-a', state: 'RESERVED' });
    expect(await app.dispatch({ wait_ms: 30_000 })).toMatchObject({ node_id: 'node-a' });
    expect(endpoint.jobs).toHaveLength(2);
  });
});

describe('node that fetches its jobs', () => {
  it('a long poll is woken by a job, and each job is returned once', async () => {
    const app = await startApp();
    await app.post('/v1/node/register', registration('node-a'));
    const poll = take(app, 'node-a', 20_000);
    const { job_id } = await app.dispatch();
    const [job] = await poll;
    expect(job).toMatchObject({ job_id, attempt_id: 1 });
    expect(await take(app, 'node-a', 0)).toEqual([]);
    await done(app, 'node-a', job as JobAssign);
    expect((await app.settled(job_id)).result).toMatchObject({ success: true });
  });

  it('a long poll returns an empty list at its end', async () => {
    const app = await startApp();
    await app.post('/v1/node/register', registration('node-a'));
    expect(await take(app, 'node-a', 20)).toEqual([]);
  });

  it('an unfetched job moves to another node and leaves the mailbox', async () => {
    const app = await startApp(SHORT_TIMES);
    await app.post('/v1/node/register', registration('node-lazy'));
    await app.post('/v1/node/register', registration('node-b'));
    const poll = take(app, 'node-b', 20_000);
    const { job_id } = await app.dispatch({ options: { preferred_node_id: 'node-lazy' } });
    const [job] = await poll;
    expect(job).toMatchObject({ job_id, attempt_id: 2 });
    await done(app, 'node-b', job as JobAssign);
    const settled = await app.settled(job_id);
    expect(nodesOf(settled)).toEqual(['node-lazy', 'node-b']);
    expect(await take(app, 'node-lazy', 0)).toEqual([]);
  });

  it('an unregistered node must register', async () => {
    const app = await startApp();
    expect(await app.get('/v1/node/node-nobody/jobs')).toMatchObject({
      status: 404,
      body: { error: 'NOT_FOUND', hint: expect.stringContaining('/v1/node/register') },
    });
  });

  it('a job cancelled before the fetch is not returned', async () => {
    const app = await startApp();
    await app.post('/v1/node/register', registration('node-a'));
    const { job_id } = await app.dispatch();
    await app.post(`/v1/job/${job_id}/cancel`);
    expect(await take(app, 'node-a', 0)).toEqual([]);
    expect((await app.job(job_id)).reason).toBe('JOB_CANCELLED');
  });
});

describe('HTTP node with a socket', () => {
  it('an HTTP node gets its jobs over the socket that it opens', async () => {
    const app = await startApp();
    await app.post('/v1/node/register', registration('node-a'));
    const held = holdJobs();
    held.finish();
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob: held.onJob });
    await app.readyNodes(1);
    expect(await app.nodes()).toMatchObject([{ node_id: 'node-a', delivery: 'socket' }]);
    const { job_id } = await app.dispatch();
    expect((await app.settled(job_id)).result).toMatchObject({ success: true });
    expect(held.begun).toHaveLength(1);
    expect(await take(app, 'node-a', 0)).toEqual([]);
  });

  it('an HTTP node fetches again after its socket is gone', async () => {
    const app = await startApp({ 'scheduler.node_reconnect_grace_ms': 0 });
    await app.post('/v1/node/register', registration('node-a'));
    const node = await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob: holdJobs().onJob });
    await app.readyNodes(1);
    node.kill();
    await eventually(() => app.app.registry.get('node-a')?.view.isConnected === false);
    await app.post('/v1/node/heartbeat', { node_id: 'node-a', health: 'ready' });
    const { job_id } = await app.dispatch();
    expect(await take(app, 'node-a')).toMatchObject([{ job_id }]);
  });
});
