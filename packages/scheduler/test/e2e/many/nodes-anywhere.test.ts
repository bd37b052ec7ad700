/** Nodes that speak HTTP behind a load balancer: each request may reach another instance. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { holdJobs, joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { type Instance, startInstances } from './start-instances.ts';

const NODE = {
  node_id: 'node-http',
  semantic_langs: ['en', 'zh'],
  tts_langs: ['zh'],
  max_concurrent_jobs: 2,
  health: 'ready',
};

async function startThree(): Promise<[Instance, Instance, Instance]> {
  return (await startInstances(3)).instances as [Instance, Instance, Instance];
}

describe('a node that polls, behind a load balancer', () => {
  it('registers, beats, polls, acknowledges and finishes on different instances', async () => {
    const [a, b, c] = await startThree();
    expect((await a.post('/v1/node/register', NODE)).body).toMatchObject({ ok: true, delivery: 'pull' });
    await b.readyNodes(1);
    await c.readyNodes(1);
    for (const each of [a, b, c]) {
      const beat = await each.post('/v1/node/heartbeat', { node_id: NODE.node_id, running_jobs: 0 });
      expect(beat).toMatchObject({ status: 200, body: { ok: true, status: 'ready' } });
    }
    const polling = b.get<{ jobs: { job_id: string; attempt_id: number }[] }>(
      `/v1/node/${NODE.node_id}/jobs?wait_ms=5000`,
    );
    const job = await c.dispatch({ request_id: 'polled' });
    const [fetched] = (await polling).body.jobs;
    expect(fetched?.job_id).toBe(job.job_id);
    const report = { job_id: job.job_id, attempt_id: fetched?.attempt_id, node_id: NODE.node_id };
    expect((await a.post('/v1/job/ack', report)).body).toEqual({ ok: true, accepted: true });
    const done = { ...report, text_asr: 'hello', text_translated: '你好' };
    expect((await b.post('/v1/job/done', done)).body).toEqual({ ok: true, accepted: true });
    expect(await a.settled(job.job_id)).toMatchObject({ result: { text_translated: '你好' } });
    // A repeat on yet another instance changes nothing, and is told so.
    expect((await a.post('/v1/job/done', done)).body).toMatchObject({ accepted: false, reason: 'settled' });
  });

  it('is refused on every instance under another credential', async () => {
    const [a, b] = await startThree();
    await a.post('/v1/node/register', NODE);
    await b.readyNodes(1);
    const unknown = await b.get(`/v1/node/nobody/jobs`);
    expect(unknown.status).toBe(404);
  });

  it('can be cordoned and drained from any instance, and is shown by all', async () => {
    const [a, b, c] = await startThree();
    await a.post('/v1/node/register', NODE);
    await c.readyNodes(1);
    expect((await c.post(`/api/v1/nodes/${NODE.node_id}/cordon`)).body).toMatchObject({ cordoned: true });
    await eventually(async () => (await b.nodes())[0]?.cordoned === true);
    expect((await b.tryDispatch()).status).toBe(503);
    expect((await b.post(`/api/v1/nodes/${NODE.node_id}/uncordon`)).body).toMatchObject({ cordoned: false });
    await eventually(async () => (await c.tryDispatch()).status === 200);
  });
});

describe('a job on another instance', () => {
  it('is cancelled from anywhere, and its node hears of it', async () => {
    const [a, b, c] = await startThree();
    const held = holdJobs();
    let isCancelled = false;
    await joinSdkNode({
      url: a.nodeUrl,
      onJob(job, context) {
        context.signal.addEventListener('abort', () => {
          isCancelled = true;
        });
        return held.onJob(job, context);
      },
    });
    await b.readyNodes(1);
    const job = await b.dispatch();
    await held.job();
    expect((await c.post(`/v1/job/${job.job_id}/cancel`)).body).toMatchObject({ accepted: true });
    await eventually(() => isCancelled);
    expect((await a.settled(job.job_id)).reason).toBe('JOB_CANCELLED');
    held.finish(OUTPUT);
  });

  it('is waited for, and its events are heard, on an instance that has nothing to do with it', async () => {
    const [a, b, c] = await startThree();
    const held = holdJobs();
    await joinSdkNode({ url: a.nodeUrl, onJob: held.onJob });
    await b.readyNodes(1);
    const job = await b.dispatch();
    await held.job();
    const events = fetch(`${c.url}/v1/job/${job.job_id}/events`).then((answer) => answer.text());
    const waited = c.get<{ state: string }>(`/v1/job/${job.job_id}?wait_ms=10000`);
    held.finish(OUTPUT);
    expect(['FINISHED', 'RELEASED']).toContain((await waited).body.state);
    expect(await events).toContain('id: end');
  });
});
