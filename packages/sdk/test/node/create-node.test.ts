/** The life cycle of a node: registration, heartbeats, commands, draining, stopping. */
import { expect, it } from 'vitest';
import { createNode, type NodeCapabilities } from '../../src/node/index.ts';
import { until } from './support/scripted-scheduler.ts';
import { createGate, prepareNode, startNode } from './support/start-node.ts';

it('a node registers with its extensions and sends a heartbeat', async () => {
  const { scheduler, node } = await startNode({
    token: 'secret',
    capabilities: { version: '1.2.3', region: 'eu' },
  });
  expect(node.nodeId()).toBe('node-given');
  expect(scheduler.authorizations).toEqual(['Bearer secret']);
  expect(scheduler.registrations()[0]).toMatchObject({
    version: '1.2.3',
    region: 'eu',
    max_concurrent_jobs: 2,
    supports: ['job_ack', 'audio_ref', 'drain', 'cancel_ack'],
    running_job_ids: [],
  });
  expect(scheduler.registrations()[0]).not.toHaveProperty('node_id');
  await until(() => scheduler.heartbeats().length > 0);
  expect(scheduler.heartbeats()[0]).toMatchObject({
    node_id: 'node-given',
    health: 'ready',
    running_job_ids: [],
    resource_usage: { running_jobs: 0, cpu_percent: expect.any(Number), mem_percent: expect.any(Number) },
  });
  expect(scheduler.refused).toEqual([]);
});

it('heartbeats follow the requested interval and list running jobs', async () => {
  const gate = createGate();
  const { scheduler } = await startNode(
    { onJob: () => gate.passed.then(() => ({})), resources: () => ({ cpu_percent: 12, mem_percent: 34 }) },
    { heartbeatIntervalMs: 30 },
  );
  scheduler.assign({ job_id: 'job-a' });
  await until(() => scheduler.heartbeats().some((beat) => beat.running_job_ids?.[0] === 'job-a'));
  expect(scheduler.heartbeats().at(-1)?.resource_usage).toEqual({
    cpu_percent: 12,
    mem_percent: 34,
    running_jobs: 1,
  });
  gate.open();
  await until(() => scheduler.heartbeats().at(-1)?.running_job_ids?.length === 0);
});

it('changed capabilities are sent once, with the next heartbeat', async () => {
  let capabilities: NodeCapabilities = { capability_by_type: [{ type: 'asr', ready: false }] };
  const { scheduler, node } = await startNode({ capabilities: () => capabilities });
  expect(scheduler.registrations()[0]).toMatchObject({ capability_schema_version: '2.0' });
  capabilities = { capability_by_type: [{ type: 'asr', ready: true }] };
  node.beat();
  node.beat();
  await until(() => scheduler.heartbeats().length === 3);
  expect(scheduler.heartbeats().map((beat) => beat.capability_by_type)).toEqual([
    undefined,
    [{ type: 'asr', ready: true }],
    undefined,
  ]);
});

it("onStatus reports the node's state at the scheduler", async () => {
  const seen: string[] = [];
  const { scheduler } = await startNode({ onStatus: (status) => seen.push(status) });
  scheduler.send({ type: 'node_status', node_id: 'node-given', status: 'ready', timestamp: 1 });
  await until(() => seen.includes('ready'));
  scheduler.cut();
  await until(() => seen.includes('offline'));
  expect(seen.slice(0, 4)).toEqual(['registering', 'registering', 'ready', 'offline']);
});

it('invalid frames and unknown messages are ignored', async () => {
  const { scheduler, node, logged } = await startNode();
  scheduler.sendText('{');
  scheduler.sendText('{"type":"job_assign"}');
  scheduler.sendText('{"type":"from_the_future","field":1}');
  scheduler.send({ type: 'error', code: 'INVALID_MESSAGE', message: 'what?' });
  scheduler.assign();
  await until(() => scheduler.results().length === 1);
  expect(node.metrics().invalidFrames).toBe(3);
  expect(logged.filter(({ message }) => message.includes('invalid message'))).toHaveLength(2);
  expect(logged.filter(({ fields }) => fields.code === 'INVALID_MESSAGE')).toHaveLength(1);
  expect(scheduler.connections()).toBe(1);
});

it('a drained node reports draining, accepts no jobs, and finishes the running ones', async () => {
  const gate = createGate();
  const asked: unknown[] = [];
  const { scheduler, node } = await startNode({
    onJob: () => gate.passed.then(() => ({ text_asr: 'done' })),
    onDrain: (reason) => {
      asked.push(reason);
    },
  });
  scheduler.assign({ job_id: 'job-a' });
  await until(() => scheduler.ofType('job_started').length === 1);
  scheduler.send({ type: 'node_control', command: 'drain', reason: 'update' });
  await until(() => scheduler.heartbeats().at(-1)?.health === 'draining');
  scheduler.assign({ job_id: 'job-b' });
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]).toMatchObject({
    job_id: 'job-b',
    error: { code: 'NODE_OVERLOADED', details: { running: 1, max: 1 } },
  });
  gate.open();
  await node.drain();
  await until(() => scheduler.heartbeats().length === 3);
  expect(scheduler.results()[1]).toMatchObject({ job_id: 'job-a', success: true });
  expect(scheduler.heartbeats()[2]).toMatchObject({ health: 'draining', running_job_ids: [] });
  expect(asked).toEqual(['update']);
  expect(node.metrics()).toMatchObject({ isDraining: true, refused: 1, kept: 0 });
});

it('a node may stop itself when it is ordered to drain', async () => {
  const gate = createGate();
  const { scheduler, node } = await startNode({
    onDrain: async () => {
      await node.drain();
      await node.stop();
      gate.open();
    },
  });
  scheduler.send({ type: 'node_control', command: 'drain' });
  await gate.passed;
  expect(node.metrics().isRegistered).toBe(false);
});

it('a node shuts down on command, and passes on unknown commands', async () => {
  const commands: string[] = [];
  const { scheduler, node } = await startNode({ onCommand: (command) => void commands.push(command) });
  scheduler.send({ type: 'node_control', command: 'reload_config' });
  scheduler.send({ type: 'node_control', command: 'shutdown' });
  await until(() => commands.length === 2);
  expect(commands).toEqual(['reload_config', 'shutdown']);
  expect(node.metrics().isRegistered).toBe(false);
});

it('a stopping node aborts running jobs with a reason', async () => {
  const { scheduler, node } = await startNode({
    onJob: (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
  scheduler.assign();
  await until(() => node.metrics().running === 1);
  await node.stop({ graceMs: 0 });
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]?.error?.code).toBe('NODE_UNAVAILABLE');
  await expect(node.start()).rejects.toThrow('stopped node');
});

it('a stopping node waits for running jobs', async () => {
  const gate = createGate();
  const { scheduler, node } = await startNode({
    onJob: () => gate.passed.then(() => ({ text_asr: 'late' })),
  });
  scheduler.assign();
  await until(() => node.metrics().running === 1);
  const stopped = node.stop({ graceMs: 10_000 });
  gate.open();
  await stopped;
  expect(scheduler.results()[0]).toMatchObject({ success: true, text_asr: 'late' });
});

it('start() rejects when the node is stopped before it registered', async () => {
  const { node } = await prepareNode({}, { acknowledges: () => false });
  const started = node.start();
  const received = expect(started).rejects.toThrow('before it was registered');
  await node.stop();
  await received;
});

it('throwing callbacks do not affect the node', async () => {
  const broken = (): never => {
    throw new Error('broken');
  };
  const { scheduler, node } = await startNode({
    onStatus: broken,
    onDrain: () => Promise.reject(new Error('broken')),
    onCommand: broken,
    resources: broken,
    capabilities: broken,
    log: { debug: broken, info: broken, warn: broken, error: broken },
  });
  scheduler.send({ type: 'node_control', command: 'reload_config' });
  scheduler.assign();
  await until(() => scheduler.results().length === 1);
  await node.drain();
  expect(scheduler.heartbeats()[0]?.resource_usage.mem_percent).toBeGreaterThan(0);
});

it('invalid options throw immediately', () => {
  const options = { url: 'ws://127.0.0.1:1/', maxConcurrentJobs: 1, capabilities: {}, onJob: () => ({}) };
  expect(() => createNode({ ...options, url: 'http://127.0.0.1/' })).toThrow('ws://');
  expect(() => createNode({ ...options, maxConcurrentJobs: 0 })).toThrow('maxConcurrentJobs');
  expect(() => createNode({ ...options, token: 'two\nlines' })).toThrow('token');
});

it('a node whose machine is taken away says so, takes no jobs, and stays so', async () => {
  let answer: number | undefined | 'fault' = 'fault';
  const { scheduler, node } = await startNode({
    leavingInMs: async () => {
      if (answer === 'fault') throw new Error('no metadata');
      return answer;
    },
    timings: { noticeIntervalMs: 5 },
  });
  await until(() => scheduler.heartbeats().length > 0);
  expect(scheduler.heartbeats()[0]).not.toHaveProperty('leaving_in_ms');
  answer = 30_000;
  await until(() => scheduler.heartbeats().at(-1)?.health === 'draining');
  const notice = scheduler.heartbeats().find(({ leaving_in_ms }) => leaving_in_ms !== undefined);
  expect(notice?.leaving_in_ms).toBeGreaterThan(0);
  expect(notice?.leaving_in_ms).toBeLessThanOrEqual(30_000);
  scheduler.send({ type: 'node_control', command: 'resume' } as never);
  node.beat();
  await until(() => scheduler.heartbeats().filter(({ health }) => health === 'draining').length > 2);
  expect(scheduler.heartbeats().at(-1)?.health).toBe('draining');
});
