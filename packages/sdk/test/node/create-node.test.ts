/** The life of a node: registration, heartbeats, draining, stopping. */
import { afterEach, expect, it, vi } from 'vitest';
import { createNode, type GpuNode, type NodeOptions } from '../../src/node/index.ts';
import { type Script, type ScriptedScheduler, startScriptedScheduler } from './support/scripted-scheduler.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(
  options: Partial<NodeOptions> = {},
  script: Script = {},
): Promise<{ scheduler: ScriptedScheduler; node: GpuNode }> {
  const scheduler = await startScriptedScheduler(script);
  open.push(scheduler.stop);
  const node = createNode({
    url: scheduler.url,
    maxConcurrentJobs: 2,
    capabilities: {},
    onJob: () => ({ text_asr: 'hello', text_translated: 'hallo' }),
    ...options,
  });
  open.push(() => node.stop({ graceMs: 0 }));
  await node.start();
  return { scheduler, node };
}

it('registers, says what it supports, and beats at once', async () => {
  const { scheduler, node } = await start({
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
  });
  expect(scheduler.registrations()[0]).not.toHaveProperty('node_id');
  await vi.waitUntil(() => scheduler.heartbeats().length > 0);
  expect(scheduler.heartbeats()[0]).toMatchObject({
    node_id: 'node-given',
    health: 'ready',
    running_job_ids: [],
  });
  expect(scheduler.refused).toEqual([]);
});

it('acknowledges, starts and answers a job with everything it was told', async () => {
  const { scheduler, node } = await start();
  scheduler.assign({ job_id: 'job-a', attempt_id: 3, group_id: 'g-1', part_index: 2, utterance_index: 7 });
  await vi.waitUntil(() => scheduler.results().length > 0);
  expect(scheduler.received.slice(-3).map((message) => message.type)).toEqual([
    'job_ack',
    'job_started',
    'job_result',
  ]);
  const echo = {
    job_id: 'job-a',
    attempt_id: 3,
    node_id: 'node-given',
    session_id: 's-1',
    trace_id: 'trace-1',
  };
  expect(scheduler.ofType('job_ack')[0]).toMatchObject(echo);
  expect(scheduler.results()[0]).toMatchObject({
    ...echo,
    utterance_index: 7,
    group_id: 'g-1',
    part_index: 2,
    success: true,
    text_asr: 'hello',
    text_translated: 'hallo',
    processing_time_ms: expect.any(Number),
    node_completed_at_ms: expect.any(Number),
  });
  await vi.waitUntil(() => node.metrics().kept === 0);
  expect(node.metrics()).toMatchObject({ jobs: 1, succeeded: 1, running: 0, dropped: 0 });
  expect(scheduler.refused).toEqual([]);
});
