/** A node and the ways in which a connection can be lost. */
import { expect, it } from 'vitest';
import { until } from './support/scripted-scheduler.ts';
import { createGate, prepareNode, startNode } from './support/start-node.ts';

it('a node reconnects under its id with its running jobs', async () => {
  const gate = createGate();
  const { scheduler, node } = await startNode({
    onJob: () => gate.passed.then(() => ({ text_asr: 'kept' })),
  });
  scheduler.assign({ job_id: 'job-a' });
  await until(() => node.metrics().running === 1);
  scheduler.cut();
  await until(() => node.metrics().reconnects === 1);
  expect(scheduler.registrations()[1]).toMatchObject({ node_id: 'node-given', running_job_ids: ['job-a'] });
  gate.open();
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]).toMatchObject({ job_id: 'job-a', success: true, text_asr: 'kept' });
});

it('a result finished while offline is kept and delivered', async () => {
  const gate = createGate();
  const { scheduler, node } = await startNode({
    onJob: () => gate.passed.then(() => ({ text_asr: 'kept' })),
  });
  scheduler.assign({ job_id: 'job-a' });
  await until(() => node.metrics().running === 1);
  await scheduler.stop();
  await until(() => !node.metrics().isRegistered);
  gate.open();
  await until(() => node.metrics().kept === 1);
  await scheduler.restart();
  await until(() => scheduler.results().length === 1);
  // The scheduler must not give the job to another node before the result arrives.
  expect(scheduler.registrations()[1]?.running_job_ids).toEqual(['job-a']);
  expect(scheduler.heartbeats().at(-1)?.running_job_ids).toEqual(['job-a']);
  await until(() => node.metrics().kept === 0);
  expect(node.metrics()).toMatchObject({ dropped: 0, reconnects: 1 });
});

it('an unread result is sent again after the connection broke', async () => {
  const { scheduler, node } = await startNode();
  scheduler.assign({ job_id: 'job-a' });
  await until(() => scheduler.results().length === 1 && node.metrics().kept === 0);
  scheduler.freeze();
  scheduler.assign({ job_id: 'job-b' });
  await until(() => node.metrics().succeeded === 2);
  expect(node.metrics().kept).toBe(1);
  scheduler.cut();
  await until(() => node.metrics().resent === 1 && node.metrics().kept === 0);
  expect(scheduler.results().at(-1)?.job_id).toBe('job-b');
  expect(node.metrics().dropped).toBe(0);
});

it('kept results are sent under a newly assigned id', async () => {
  const gate = createGate();
  const { scheduler, node } = await startNode(
    { onJob: () => gate.passed.then(() => ({})) },
    { nodeId: (_, count) => `node-${count}` },
  );
  scheduler.assign({ job_id: 'job-a' });
  await until(() => node.metrics().running === 1);
  await scheduler.stop();
  gate.open();
  await until(() => node.metrics().kept === 1);
  await scheduler.restart();
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]?.node_id).toBe('node-2');
  expect(node.nodeId()).toBe('node-2');
});

it('a dead scheduler is detected on an open connection', async () => {
  const { scheduler, node, logged } = await startNode({ timings: { pingIntervalMs: 25 } });
  scheduler.freeze();
  await until(() => node.metrics().reconnects === 1);
  expect(scheduler.connections()).toBe(2);
  expect(logged.some(({ fields }) => fields.code === 1006)).toBe(true);
});

it('a silent but living scheduler is kept', async () => {
  const { scheduler, node } = await startNode({ timings: { pingIntervalMs: 10 } });
  let pings = 0;
  scheduler.onPing(() => {
    pings += 1;
  });
  await until(() => pings >= 5);
  expect(node.metrics().reconnects).toBe(0);
});

it('a node reconnects on command', async () => {
  const { scheduler, node } = await startNode();
  scheduler.send({ type: 'node_control', command: 'reconnect' });
  await until(() => node.metrics().reconnects === 1);
  expect(scheduler.registrations()[1]?.node_id).toBe('node-given');
});

it('a node reconnects immediately after each scheduler restart', async () => {
  // If these counted as failures, the sixth delay would be 64 s.
  const { scheduler, node } = await startNode({
    timings: { firstMs: 2, longestMs: 60_000 },
    chance: () => 0.999,
  });
  for (let restarts = 1; restarts <= 16; restarts += 1) {
    scheduler.hangUp(1012, 'service restart');
    await until(() => node.metrics().reconnects === restarts);
  }
});

it('an unanswered registration is retried for ever', async () => {
  let isAnswering = false;
  const { scheduler, node } = await prepareNode(
    { timings: { registerTimeoutMs: 20 } },
    { acknowledges: () => isAnswering },
  );
  await scheduler.stop();
  const started = node.start();
  await scheduler.restart();
  await until(() => scheduler.registrations().length >= 3);
  isAnswering = true;
  await started;
  expect(node.metrics()).toMatchObject({ isRegistered: true, reconnects: 0 });
});

it('jobs before the registration are ignored', async () => {
  let isAnswering = false;
  const { scheduler, node, logged } = await prepareNode({}, { acknowledges: () => isAnswering });
  const started = node.start();
  await until(() => scheduler.registrations().length === 1);
  scheduler.assign();
  scheduler.send({ type: 'error', code: 'SCHEDULER_DEPENDENCY_DOWN', message: 'GPU nodes only' });
  isAnswering = true;
  scheduler.cut();
  await started;
  expect(node.metrics().jobs).toBe(0);
  expect(
    logged.some(({ level, fields }) => level === 'error' && fields.code === 'SCHEDULER_DEPENDENCY_DOWN'),
  ).toBe(true);
});

it('a result that the scheduler rejects as too long is dropped', async () => {
  const { scheduler, node, logged } = await startNode(
    { onJob: (job) => (job.job_id === 'job-long' ? { tts_audio: Buffer.alloc(40_000) } : {}) },
    { maxPayload: 20_000 },
  );
  scheduler.assign({ job_id: 'job-long' });
  await until(() => node.metrics().reconnects === 1);
  scheduler.assign({ job_id: 'job-short' });
  await until(() => scheduler.results().length === 1);
  expect(node.metrics()).toMatchObject({ dropped: 1, reconnects: 1 });
  expect(logged.find(({ level }) => level === 'error')?.fields).toMatchObject({ job_id: 'job-long' });
});

it('a killed node sends no close frame', async () => {
  const gate = createGate();
  const { scheduler, node } = await startNode({ onJob: () => gate.passed.then(() => ({})) });
  scheduler.assign();
  await until(() => node.metrics().running === 1);
  node.kill();
  gate.open();
  await until(() => node.metrics().running === 0);
  expect(node.metrics()).toMatchObject({ isRegistered: false, kept: 0 });
  await expect(node.start()).rejects.toThrow('stopped node');
  expect(scheduler.connections()).toBe(1);
});
