/** A legacy node reconnects only once, so the scheduler closes its connection only when it must. */
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Assigned, connectLegacyNode, TRANSLATED } from './support/legacy-node.ts';
import { type Settings, SHORT_TIMES, startApp } from './support/start-app.ts';

/** A node that answers only on the test's request, and would not reconnect in time. */
async function startWithNode(settings: Settings = {}) {
  const app = await startApp(settings);
  const node = connectLegacyNode({
    url: app.nodeUrl,
    nodeId: 'node-7',
    reconnectMs: 60_000,
    answer: () => undefined,
  });
  await node.registered();
  await app.readyNodes(1);
  const isReady = async () => (await app.nodes())[0]?.status === 'ready';
  /** The first connection still serves. */
  async function expectServed(): Promise<void> {
    const beating = setInterval(node.beat, 50);
    onTestFinished(() => clearInterval(beating));
    await eventually(isReady);
    const before = node.jobs.length;
    const { job_id: jobId } = await app.dispatch({ wait_ms: 20_000 });
    node.reply(await node.job(before + 1), TRANSLATED);
    expect((await app.settled(jobId)).result).toMatchObject({ success: true });
    expect([node.connections(), node.isOpen(), node.closeCode()]).toEqual([1, true, undefined]);
  }
  return { app, node, expectServed };
}

it('the connection survives failures, silence, late and unknown reports', async () => {
  const { app, node, expectServed } = await startWithNode(SHORT_TIMES);
  async function begin(): Promise<{ jobId: string; job: Assigned }> {
    const before = node.jobs.length;
    const { job_id: jobId } = await app.dispatch();
    return { jobId, job: await node.job(before + 1) };
  }
  const failed = await begin();
  node.reply(failed.job, { success: false, error: { code: 'PROCESSING_ERROR', message: 'no' } });
  expect((await app.settled(failed.jobId)).result?.success).toBe(false);

  const silent = await begin();
  expect((await app.settled(silent.jobId)).result).toMatchObject({ error: { code: 'JOB_TIMEOUT' } });
  node.reply(silent.job, TRANSLATED);

  const cancelled = await begin();
  await app.post(`/v1/job/${cancelled.jobId}/cancel`, {});
  node.reply(cancelled.job, TRANSLATED);
  node.reply({ ...cancelled.job, job_id: 'job-of-another-life' }, TRANSLATED);
  await expectServed();
});

it('the connection survives unknown messages and a second registration', async () => {
  const { node, expectServed } = await startWithNode();
  node.send({ type: 'node_mood', node_id: 'node-7' });
  node.send({ type: 'node_error', node_id: 'node-7' });
  node.send({ type: 'job_result', node_id: 'node-7', job_id: 7 });
  node.send({ type: 'node_register', node_id: 'node-8' });
  await eventually(() => node.frames.filter(({ type }) => type === 'error').length === 4);
  await expectServed();
});

it('the connection survives a cordon and missed heartbeats', async () => {
  const { app, node, expectServed } = await startWithNode({
    'scheduler.node_health.heartbeat_interval_seconds': 0.1,
    'scheduler.node_health.heartbeat_timeout_seconds': 3,
    'scheduler.heartbeat_stale_ms': 3_000,
    'scheduler.node_health.status_scan_interval_seconds': 0.1,
  });
  await eventually(async () => (await app.nodes())[0]?.status === 'offline');
  expect(node.isOpen()).toBe(true);
  await app.post('/api/v1/nodes/node-7/cordon');
  await app.post('/api/v1/nodes/node-7/uncordon');
  await expectServed();
});
