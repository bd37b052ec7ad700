/** HTTP nodes behind a load balancer: each request may reach another instance. */
import type { ClusterReply, NodeDetail } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { holdJobs, joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { chunk, openSession, sessionUrl } from '../support/session-client.ts';
import { AUDIO, type Settings } from '../support/start-app.ts';
import { TOKEN_TOML, TOKENS } from '../support/tokens.ts';
import { type Instance, startInstances } from './start-instances.ts';

const NODE = {
  node_id: 'node-http',
  semantic_langs: ['en', 'zh'],
  tts_langs: ['zh'],
  max_concurrent_jobs: 2,
  health: 'ready',
};

async function startThree(settings?: Settings): Promise<[Instance, Instance, Instance]> {
  return (await startInstances(3, settings)).instances as [Instance, Instance, Instance];
}

describe('a polling node behind a load balancer', () => {
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
    // A repeated report on another instance changes nothing, and the reply says so.
    expect((await a.post('/v1/job/done', done)).body).toMatchObject({ accepted: false, reason: 'settled' });
  });

  it('reports a failure to any instance, and its driver retries the job', async () => {
    const [a, b, c] = await startThree();
    await a.post('/v1/node/register', NODE);
    await b.readyNodes(1);
    const job = await b.dispatch();
    const path = `/v1/node/${NODE.node_id}/jobs?wait_ms=5000`;
    const [fetched] = (await c.get<{ jobs: { attempt_id: number }[] }>(path)).body.jobs;
    const report = { job_id: job.job_id, attempt_id: fetched?.attempt_id, node_id: NODE.node_id };
    await joinSdkNode({ url: c.nodeUrl, nodeId: 'node-better', onJob: async () => OUTPUT });
    await b.readyNodes(2);
    const failed = await a.post('/v1/job/fail', { ...report, status: 'error', reason: 'MODEL_LOAD_FAILED' });
    expect(failed.body).toEqual({ ok: true, accepted: true });
    expect(await c.settled(job.job_id)).toMatchObject({
      node_id: 'node-better',
      attempt_id: 2,
      result: OUTPUT,
    });
  });

  it('reports partial text to any instance, and the session gets it', async () => {
    const [a, b, c] = await startThree();
    await a.post('/v1/node/register', NODE);
    await b.readyNodes(1);
    const session = await openSession({ url: sessionUrl(b) });
    session.send(chunk(session, 1, { is_final: true }));
    const path = `/v1/node/${NODE.node_id}/jobs?wait_ms=5000`;
    const [job] = (await a.get<{ jobs: { job_id: string; attempt_id: number }[] }>(path)).body.jobs;
    const report = { job_id: job?.job_id, attempt_id: job?.attempt_id, node_id: NODE.node_id };
    // The instance that handed the job out knows its driver; the others read the record.
    for (const [at, text] of [
      [a, 'hel'],
      [b, 'hell'],
      [c, 'hello'],
    ] as const) {
      expect((await at.post('/v1/job/partial', { ...report, text })).body).toEqual({
        ok: true,
        accepted: true,
      });
      await eventually(() => session.of('asr_partial').at(-1)?.text === text);
    }
    const stale = await c.post('/v1/job/partial', { ...report, attempt_id: 7, text: 'late' });
    expect(stale.body).toMatchObject({ accepted: false });
  });

  it('is deregistered on any instance, and its jobs are retried elsewhere', async () => {
    const [a, b, c] = await startThree();
    await a.post('/v1/node/register', NODE);
    await b.readyNodes(1);
    await c.readyNodes(1);
    const job = await b.dispatch();
    await a.get(`/v1/node/${NODE.node_id}/jobs?wait_ms=5000`);
    await joinSdkNode({ url: b.nodeUrl, nodeId: 'node-better', onJob: async () => OUTPUT });
    await b.readyNodes(2);
    const removed = await c.remove(`/v1/node/${NODE.node_id}`);
    expect(removed).toMatchObject({ status: 200, body: { ok: true, status: 'offline' } });
    expect(await c.settled(job.job_id)).toMatchObject({ node_id: 'node-better', result: OUTPUT });
    await eventually(async () => (await b.nodes()).every(({ node_id }) => node_id !== NODE.node_id));
    const again = await b.remove(`/v1/node/${NODE.node_id}`);
    expect(again).toMatchObject({ status: 404, body: { field: '/id' } });
  });

  it('learns of a cancelled job from the answers of poll and heartbeat, on any instance', async () => {
    const [a, b, c] = await startThree();
    await a.post('/v1/node/register', NODE);
    await b.readyNodes(1);
    const job = await b.dispatch();
    const path = `/v1/node/${NODE.node_id}/jobs?wait_ms=5000`;
    const [fetched] = (await c.get<{ jobs: { attempt_id: number }[] }>(path)).body.jobs;
    const report = { job_id: job.job_id, attempt_id: fetched?.attempt_id, node_id: NODE.node_id };
    await a.post('/v1/job/ack', report);
    const polling = a.get(path);
    expect((await c.post(`/v1/job/${job.job_id}/cancel`)).body).toMatchObject({ accepted: true });
    expect((await polling).body).toEqual({ jobs: [], cancelled: [job.job_id] });
    const beat = await c.post('/v1/node/heartbeat', { node_id: NODE.node_id, running_job_ids: [] });
    expect(beat.body).toEqual({ ok: true, status: 'ready', cancelled: [job.job_id] });
    expect((await b.post('/v1/node/heartbeat', { node_id: NODE.node_id })).body).toEqual({
      ok: true,
      status: 'ready',
    });
  });

  it('is accepted with its own credential only, on every instance', async () => {
    const { instances } = await startInstances(2, { 'server.anonymous': '' }, TOKEN_TOML);
    const [a, b] = instances as [Instance, Instance];
    const own = { ...NODE, node_id: 'node-pinned' };
    const beat = { node_id: own.node_id, running_jobs: 0 };
    expect((await a.post('/v1/node/register', own, TOKENS.pinned)).status).toBe(200);
    await eventually(async () => (await b.post('/v1/node/heartbeat', beat, TOKENS.pinned)).status === 200);
    for (const each of [a, b]) {
      const answers = [
        await each.post<{ error: string }>('/v1/node/register', own, TOKENS.node),
        await each.post<{ error: string }>('/v1/node/heartbeat', beat, TOKENS.node),
        await each.get<{ error: string }>(`/v1/node/${own.node_id}/jobs`, TOKENS.node),
      ];
      expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
        [403, 'FORBIDDEN'],
        [403, 'FORBIDDEN'],
        [403, 'FORBIDDEN'],
      ]);
    }
  });

  it('whose token names a tenant serves only jobs of that tenant, on every instance (I10)', async () => {
    const { instances } = await startInstances(2, { 'server.anonymous': '' }, TOKEN_TOML);
    const [a, b] = instances as [Instance, Instance];
    expect((await a.post('/v1/node/register', NODE, TOKENS.acmeNode)).status).toBe(200);
    const body = { session_id: 's', src_lang: 'en', tgt_lang: 'zh', audio: AUDIO };
    for (const each of [a, b]) {
      const ask = (token: string) =>
        each.post<{ node_id?: string; error?: string }>('/v1/dispatch/f2f', body, token);
      await eventually(async () => (await ask(TOKENS.client)).body.node_id === NODE.node_id);
      const refused = await ask(TOKENS.otherClient);
      expect(refused.status).not.toBe(200);
      expect(JSON.stringify(refused.body)).not.toContain(NODE.node_id);
      const why = await each.post('/v1/explain', body, TOKENS.otherClient);
      expect(why.body).toMatchObject({ reasons: [{ reason: 'not_in_public_pool', count: 1 }] });
    }
  });

  it('stops new jobs on every instance with the heartbeat that says degraded', async () => {
    const [a, b, c] = await startThree();
    await a.post('/v1/node/register', NODE);
    await b.readyNodes(1);
    await c.readyNodes(1);
    const beat = await b.post('/v1/node/heartbeat', { node_id: NODE.node_id, health: 'degraded' });
    expect(beat.body).toEqual({ ok: true, status: 'degraded' });
    for (const each of [a, b, c]) expect((await each.tryDispatch()).status).toBe(503);
    await c.post('/v1/node/heartbeat', { node_id: NODE.node_id, health: 'ready' });
    await eventually(async () => (await a.tryDispatch()).status === 200);
  });

  it('is described by every instance as its holder sees it, with attempts of all drivers', async () => {
    const [a, b, c] = await startThree();
    await a.post('/v1/node/register', NODE);
    await b.readyNodes(1);
    await c.readyNodes(1);
    const job = await c.dispatch();
    const report = { job_id: job.job_id, attempt_id: 1, node_id: NODE.node_id };
    await a.get(`/v1/node/${NODE.node_id}/jobs?wait_ms=5000`);
    await a.post('/v1/job/done', { ...report, text_asr: 'hello', text_translated: '你好' });
    await c.settled(job.job_id);
    await a.post('/v1/node/heartbeat', {
      node_id: NODE.node_id,
      current_load: { cpu: 0.5 },
      running_jobs: 0,
    });
    const own = (await a.nodes())[0];
    expect(own).toMatchObject({ cpu_percent: 50, instance_id: a.instanceId });
    for (const each of [a, b, c]) {
      const [listed] = await each.nodes();
      expect(listed).toMatchObject({ cpu_percent: 50, last_heartbeat_at_ms: own?.last_heartbeat_at_ms });
      const { body } = await each.get<NodeDetail>(`/api/v1/nodes/${NODE.node_id}`);
      expect(body).toMatchObject({
        instance_id: a.instanceId,
        cpu_percent: 50,
        languages: { semantic: ['en', 'zh'] },
        recent_attempts: [{ job_id: job.job_id, outcome: 'finished', instance_id: c.instanceId }],
        unreachable: [],
      });
      expect(body).not.toHaveProperty('outdated');
    }
  });

  it('is cordoned and drained from any instance, and shown by all', async () => {
    const [a, b, c] = await startThree();
    await a.post('/v1/node/register', NODE);
    await c.readyNodes(1);
    expect((await c.post(`/api/v1/nodes/${NODE.node_id}/cordon`)).body).toMatchObject({ cordoned: true });
    await eventually(async () => (await b.nodes())[0]?.cordoned === true);
    expect((await b.tryDispatch()).status).toBe(503);
    expect((await b.post(`/api/v1/nodes/${NODE.node_id}/uncordon`)).body).toMatchObject({ cordoned: false });
    await eventually(async () => (await c.tryDispatch()).status === 200);
    expect((await b.post(`/api/v1/nodes/${NODE.node_id}/drain`)).status).toBe(200);
    await eventually(async () => (await c.nodes())[0]?.status === 'draining');
    expect((await a.tryDispatch()).status).toBe(503);
  });
});

it('a session is closed from any instance, with its connection', async () => {
  const [a, , c] = await startThree();
  for (const legacy of [{}, { supports: undefined }]) {
    const client = await openSession({ url: sessionUrl(a) }, legacy);
    expect((await c.post(`/api/v1/sessions/${client.sessionId()}/close`, {})).body).toMatchObject({
      state: 'closing',
      instance_id: a.instanceId,
    });
    expect((await client.closed).reason).toBe('closed_by_operator');
    expect(client.of('session_close_ack')).toHaveLength(1);
    expect((await c.post(`/api/v1/sessions/${client.sessionId()}/close`, {})).status).toBe(404);
  }
});

it('is counted for its holder on every instance', async () => {
  const [a, b, c] = await startThree({ 'server.endpoint_networks': '127.0.0.0/8' });
  await a.post('/v1/node/register', NODE);
  await a.post('/v1/node/register', { ...NODE, node_id: 'node-called', endpoint: 'http://127.0.0.1:1/jobs' });
  await b.post('/v1/node/register', { ...NODE, node_id: 'node-elsewhere' });
  const socket = await joinSdkNode({ url: b.nodeUrl, nodeId: 'node-socket', onJob: async () => OUTPUT });
  await c.readyNodes(4);

  const shownBy = async (each: Instance): Promise<(number | undefined)[]> => {
    const { body } = await each.get<ClusterReply>('/api/v1/cluster');
    return [a, b, c].map(
      ({ instanceId }) => body.instances.find((line) => line.instance_id === instanceId)?.nodes,
    );
  };
  const heldBy = async (each: Instance): Promise<number[]> => {
    const nodes = (await each.nodes()).map((node) => node.instance_id ?? each.instanceId);
    return [a, b, c].map(({ instanceId }) => nodes.filter((owner) => owner === instanceId).length);
  };
  for (const each of [a, b, c]) {
    expect(await heldBy(each)).toEqual([2, 2, 0]);
    await eventually(async () => String(await shownBy(each)) === '2,2,0');
    const { body } = await each.get<ClusterReply>('/api/v1/cluster');
    expect(body).toMatchObject({ online_instances: 3, total_nodes: 4, online_nodes: 4, ready_nodes: 4 });
    expect(body.nodes?.map(({ status }) => status)).toEqual(['Ready', 'Ready', 'Ready', 'Ready']);
  }
  // A node that is away is shown for a while, without a holder.
  await socket.stop();
  await eventually(async () => String(await shownBy(b)) === '2,1,0');
});

describe('a job on another instance', () => {
  it('is cancelled from any instance, and its node receives the cancel', async () => {
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

  it('can be awaited and followed on an uninvolved instance', async () => {
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
