/** SDK nodes with the whole scheduler: jobs, losses, reconnects, refusals, drain, ejection. */
import type { JobView } from '@lingua/protocol';
import { JobError } from '@lingua/sdk/node';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createBreakableWire } from './support/breakable-wire.ts';
import { holdJobs, joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { nodesOf, type RunningApp, SHORT_TIMES, startApp } from './support/start-app.ts';

const times = (job: JobView, state: string): number =>
  job.timeline.filter((step) => step.state === state).length;

const usedSlots = async (app: RunningApp): Promise<number> =>
  (await app.nodes()).reduce((sum, node) => sum + node.used_slots, 0);

/** Two nodes that hold their jobs; the dispatch shows which one has the first. */
async function startPair(settings = {}) {
  const app = await startApp(settings);
  const held = { 'node-a': holdJobs(), 'node-b': holdJobs() };
  const nodes = {
    'node-a': await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob: held['node-a'].onJob }),
    'node-b': await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-b', onJob: held['node-b'].onJob }),
  };
  await app.readyNodes(2);
  const dispatched = await app.dispatch();
  const first = dispatched.node_id as keyof typeof held;
  const second = first === 'node-a' ? 'node-b' : 'node-a';
  await held[first].job();
  return { app, jobId: dispatched.job_id, first, second, held, nodes } as const;
}

describe('SDK node', () => {
  it('a job reaches the node with its audio, and its result returns', async () => {
    const app = await startApp();
    const audio: number[] = [];
    await joinSdkNode({
      url: app.nodeUrl,
      nodeId: 'node-a',
      async onJob(_job, context) {
        audio.push(...(await context.audio()));
        return { ...OUTPUT, tts_audio: Buffer.from([1, 2, 3]), tts_format: 'pcm16' };
      },
    });
    await app.readyNodes(1);
    const { job_id } = await app.dispatch({ audio: 'AQACAA==', options: { require_tts: true } });
    const job = await app.settled(job_id);
    expect(audio).toEqual([1, 0, 2, 0]);
    expect(job.result).toMatchObject({ success: true, ...OUTPUT, tts_audio: 'AQID', tts_format: 'pcm16' });
    expect(job.timeline.map(({ state }) => state).slice(0, 5)).toEqual([
      'CREATED',
      'RESERVED',
      'DISPATCHED',
      'RUNNING',
      'FINISHED',
    ]);
    await eventually(async () => (await usedSlots(app)) === 0);
  });

  it('the job of a node whose machine is taken away moves before that, with one result', async () => {
    const { app, jobId, first, second, held, nodes } = await startPair();
    void nodes[first].leave(0);
    await held[second].job();
    expect((await app.dispatch()).node_id).toBe(second);
    held[first].finish();
    held[second].finish();
    const job = await app.settled(jobId);
    expect(nodesOf(job)).toEqual([first, second]);
    expect(job).toMatchObject({ node_id: second, attempt_id: 2, result: { success: true } });
    expect(times(job, 'FINISHED')).toBe(1);
  });

  it('the job of a killed node moves, with one result', async () => {
    const { app, jobId, first, second, held, nodes } = await startPair({
      'scheduler.node_reconnect_grace_ms': 50,
    });
    nodes[first].kill();
    await held[second].job();
    held[first].finish();
    held[second].finish();
    const job = await app.settled(jobId);
    expect(nodesOf(job)).toEqual([first, second]);
    expect([times(job, 'FINISHED'), held[first].begun.length, held[second].begun.length]).toEqual([1, 1, 1]);
    expect(job).toMatchObject({ node_id: second, attempt_id: 2, result: { success: true } });
  });

  it('a node back within the grace period delivers its result', async () => {
    const app = await startApp({ 'scheduler.node_reconnect_grace_ms': 10_000 });
    const wire = await createBreakableWire(app.nodeUrl);
    const held = holdJobs();
    const other = holdJobs();
    const node = await joinSdkNode({ url: wire.url, nodeId: 'node-a', onJob: held.onJob });
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-b', onJob: other.onJob });
    await app.readyNodes(2);
    const { job_id } = await app.dispatch({ options: { preferred_node_id: 'node-a' } });
    await held.job();
    await eventually(async () => (await app.job(job_id)).state === 'RUNNING');
    wire.cut({ isKept: true });
    await eventually(() => app.app.registry.get('node-a')?.view.isConnected === false);
    // The job ends while there is no connection.
    held.finish();
    await eventually(() => node.metrics().kept === 1);
    expect((await app.job(job_id)).state).toBe('RUNNING');
    wire.mend();
    const job = await app.settled(job_id);
    expect(job).toMatchObject({ node_id: 'node-a', attempt_id: 1, result: { success: true } });
    expect([held.begun.length, other.begun.length]).toEqual([1, 0]);
    expect(node.metrics().reconnects).toBe(1);
  });

  it('a node back within the grace period continues its running job', async () => {
    const app = await startApp({ 'scheduler.node_reconnect_grace_ms': 10_000 });
    const wire = await createBreakableWire(app.nodeUrl);
    const held = holdJobs();
    const node = await joinSdkNode({ url: wire.url, nodeId: 'node-a', onJob: held.onJob });
    await app.readyNodes(1);
    const { job_id } = await app.dispatch();
    await held.job();
    wire.cut();
    await eventually(() => node.metrics().reconnects === 1);
    held.finish();
    const job = await app.settled(job_id);
    expect(job).toMatchObject({ attempt_id: 1, result: { success: true } });
    expect(held.begun).toHaveLength(1);
  });

  it('a job named at the reconnect counts as acknowledged', async () => {
    const app = await startApp();
    const wire = await createBreakableWire(app.nodeUrl);
    const held = holdJobs();
    await joinSdkNode({
      url: wire.url,
      nodeId: 'node-a',
      onJob: held.onJob,
      tamper: (message) => (message.type === 'job_result' ? [message] : []),
    });
    await app.readyNodes(1);
    const { job_id } = await app.dispatch();
    await held.job();
    expect((await app.job(job_id)).state).toBe('DISPATCHED');
    wire.cut();
    await eventually(async () => (await app.job(job_id)).state === 'RUNNING');
    held.finish();
    expect(await app.settled(job_id)).toMatchObject({ attempt_id: 1, result: { success: true } });
  });

  it('a node restarted under its id loses its jobs to other nodes', async () => {
    const { app, jobId, first, second, held, nodes } = await startPair({
      'scheduler.node_reconnect_grace_ms': 10_000,
    });
    nodes[first].kill();
    const anew = holdJobs();
    await joinSdkNode({ url: app.nodeUrl, nodeId: first, onJob: anew.onJob });
    await held[second].job();
    held[second].finish();
    const job = await app.settled(jobId);
    expect(nodesOf(job)).toEqual([first, second]);
    expect([job.result?.success, anew.begun.length]).toEqual([true, 0]);
  });

  it('NODE_OVERLOADED moves the job to the next node', async () => {
    const { app, second, first, held } = await startPair({ 'scheduler.max_retry': 0 });
    held[first].finish();
    const full = holdJobs();
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-c', maxConcurrentJobs: 1, onJob: full.onJob });
    // The scheduler gets a higher slot count than the node has.
    await app.post('/v1/node/register', {
      node_id: 'node-c',
      health: 'ready',
      semantic_langs: ['en', 'zh'],
      tts_langs: ['en', 'zh'],
      max_concurrent_jobs: 3,
    });
    await app.readyNodes(3);
    const wish = { options: { preferred_node_id: 'node-c' } };
    expect(await app.dispatch(wish)).toMatchObject({ node_id: 'node-c' });
    await full.job();
    const { job_id, node_id } = await app.dispatch(wish);
    expect(node_id).toBe('node-c');
    held[second].finish();
    const job = await app.settled(job_id);
    expect(job.result).toMatchObject({ success: true });
    expect(job.timeline).toContainEqual(
      expect.objectContaining({ state: 'RETRYING', node_id: 'node-c', reason: 'NODE_OVERLOADED' }),
    );
    full.finish();
  });

  it('a draining node finishes its jobs and gets no new ones', async () => {
    const { app, jobId, first, second, held, nodes } = await startPair();
    const drained = nodes[first].drain();
    await eventually(
      async () => (await app.nodes()).find((node) => node.node_id === first)?.status === 'draining',
    );
    const others = await Promise.all([1, 2, 3, 4].map(() => app.dispatch()));
    expect(new Set(others.map(({ node_id }) => node_id))).toEqual(new Set([second]));
    expect((await app.tryDispatch()).status).toBe(503);
    held[first].finish();
    await drained;
    expect((await app.settled(jobId)).result).toMatchObject({ success: true });
    expect(held[first].begun).toHaveLength(1);
    held[second].finish();
  });

  it('a node drained by an operator works again after uncordon', async () => {
    const { app, jobId, first, second, held, nodes } = await startPair();
    const statusOf = async () => (await app.nodes()).find((node) => node.node_id === first)?.status;
    await app.post(`/api/v1/nodes/${first}/drain`, {});
    await eventually(() => nodes[first].metrics().isDraining);
    held[first].finish();
    expect((await app.settled(jobId)).result).toMatchObject({ success: true });
    await app.post(`/api/v1/nodes/${first}/uncordon`, {});
    await eventually(() => !nodes[first].metrics().isDraining);
    await eventually(async () => (await statusOf()) === 'ready');
    const { job_id, node_id } = await app.dispatch({ options: { preferred_node_id: first } });
    expect(node_id).toBe(first);
    expect((await app.settled(job_id)).result).toMatchObject({ success: true });
    held[second].finish();
  });

  it('an unacknowledged job moves to the next node', async () => {
    const app = await startApp(SHORT_TIMES);
    const mute = holdJobs();
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-mute', onJob: mute.onJob, tamper: () => [] });
    const other = holdJobs();
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-b', onJob: other.onJob });
    other.finish();
    await app.readyNodes(2);
    const { job_id, node_id } = await app.dispatch({ options: { preferred_node_id: 'node-mute' } });
    expect(node_id).toBe('node-mute');
    const job = await app.settled(job_id);
    expect(nodesOf(job)).toEqual(['node-mute', 'node-b']);
    expect(job.timeline).toContainEqual(
      expect.objectContaining({ state: 'RETRYING', node_id: 'node-mute', reason: 'ACK_TIMEOUT' }),
    );
    expect(job.result).toMatchObject({ success: true });
    mute.finish();
  });
});

describe('node that fails fast', () => {
  it('a failing node is ejected, and a probe brings it back', async () => {
    const app = await startApp({
      'scheduler.ejection.min_samples': 3,
      'scheduler.ejection.base_ms': 3_000,
      'scheduler.node_health.status_scan_interval_seconds': 0.1,
    });
    let isBroken = true;
    let done = 0;
    const onJob = () => OUTPUT;
    await joinSdkNode({
      url: app.nodeUrl,
      nodeId: 'node-hole',
      onJob() {
        if (isBroken) throw new JobError('MODEL_LOAD_FAILED', 'no memory left');
        done += 1;
        return OUTPUT;
      },
    });
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-b', onJob });
    await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-c', onJob });
    await app.readyNodes(3);
    const isEjected = () => app.app.registry.get('node-hole')?.view.isEjected === true;
    const run = async () =>
      app.settled((await app.dispatch({ options: { preferred_node_id: 'node-hole' } })).job_id);

    await eventually(async () => {
      expect((await run()).result).toMatchObject({ success: true });
      return isEjected();
    });
    const whileEjected: JobView[] = [];
    while (isEjected() && whileEjected.length < 5) {
      const job = await run();
      if (isEjected()) whileEjected.push(job);
    }
    expect(whileEjected.length).toBeGreaterThan(0);
    expect(whileEjected.flatMap(nodesOf)).not.toContain('node-hole');
    expect(whileEjected.every(({ result }) => result?.success)).toBe(true);

    isBroken = false;
    await eventually(async () => (await run()) && done > 0);
    await eventually(() => !isEjected());
    expect(nodesOf(await run())).toEqual(['node-hole']);
  });
});
