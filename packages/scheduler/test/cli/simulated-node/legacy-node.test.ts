/** A simulated node of the kind legacy, against a scripted scheduler. */
import { afterEach, expect, it } from 'vitest';
import {
  jobAssign,
  type Script,
  startScriptedScheduler,
  until,
} from '../../../../sdk/test/node/support/scripted-scheduler.ts';
import { type Behaviour, HEALTHY } from '../../../src/cli/simulated-node/behaviour.ts';
import { createLegacyNode } from '../../../src/cli/simulated-node/legacy-node.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(behaviour: Partial<Behaviour> = {}, script: Script = {}) {
  const scheduler = await startScriptedScheduler(script);
  open.push(scheduler.stop);
  const node = createLegacyNode(
    {
      url: scheduler.url,
      languages: ['en', 'de'],
      slots: 1,
      behaviour: { ...HEALTHY, latency: { kind: 'constant', ms: 1 }, isLegacy: true, ...behaviour },
      seed: 3,
    },
    { reconnectMs: 5 },
  );
  open.push(node.stop);
  return { scheduler, node };
}

it('reports no extensions, slots or translation', async () => {
  const { scheduler, node } = await start();
  await node.start();
  const [register] = scheduler.registrations();
  expect(register).not.toHaveProperty('supports');
  expect(register).not.toHaveProperty('max_concurrent_jobs');
  expect(register?.language_capabilities).not.toHaveProperty('nmt_capabilities');
  await until(() => scheduler.heartbeats().length > 0);
  expect(scheduler.heartbeats()[0]).not.toHaveProperty('health');
  expect(scheduler.heartbeats()[0]).not.toHaveProperty('running_job_ids');
  expect(scheduler.refused).toEqual([]);
});

it('sends results without acknowledgements and without unknown fields', async () => {
  const { scheduler, node } = await start();
  await node.start();
  scheduler.assign({ group_id: 'g-1', part_index: 1 });
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]).toMatchObject({ success: true, attempt_id: 1, trace_id: 'trace-1' });
  for (const field of ['group_id', 'part_index', 'node_completed_at_ms'])
    expect(scheduler.results()[0]).not.toHaveProperty(field);
  expect(scheduler.ofType('job_ack')).toEqual([]);
  expect(node.counts()).toMatchObject({ done: 1, running: 0 });
});

it('rejects a job and an utterance that it has seen', async () => {
  const { scheduler, node } = await start();
  await node.start();
  scheduler.assign({ job_id: 'job-a', utterance_index: 1 });
  scheduler.assign({ job_id: 'job-a', utterance_index: 2 });
  scheduler.assign({ job_id: 'job-b', utterance_index: 1 });
  await until(() => scheduler.results().length === 3);
  const errors = scheduler.results().flatMap(({ error }) => (error === undefined ? [] : [error.message]));
  expect(errors).toEqual(['DUPLICATE_JOB_ID', 'DUPLICATE_UTTERANCE_INDEX']);
});

it('ignores a job whose cut is not manual', async () => {
  const { scheduler, node } = await start();
  await node.start();
  scheduler.assign({ is_manual_cut: false });
  await until(() => node.counts().silent === 1);
  scheduler.assign();
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]?.job_id).toBe('job-2');
});

it('rejects wav, missing audio, and an unknown speaker', async () => {
  const { scheduler, node } = await start();
  await node.start();
  scheduler.assign({ audio_format: 'wav' });
  scheduler.assign({ audio: '' });
  scheduler.assign({ src_lang: 'auto' });
  await until(() => scheduler.results().length === 3);
  expect(scheduler.results().map(({ error }) => error?.message.split(':')[0])).toEqual([
    'Unsupported audio format',
    'Opus decoding failed',
    'ASR_STEP_INVALID_LANG_CONTRACT',
  ]);
});

it('does not translate an utterance after a later one came', async () => {
  const { scheduler, node } = await start();
  await node.start();
  scheduler.assign({ utterance_index: 5 });
  scheduler.assign({ utterance_index: 4 });
  await until(() => scheduler.results().length === 2);
  const [later, earlier] = scheduler.results();
  expect(later?.text_translated).not.toBe('');
  expect(earlier).toMatchObject({ utterance_index: 4, text_translated: '', success: true });
  expect(earlier?.text_asr).not.toBe('');
});

it('sends the result of a cancelled job', async () => {
  const { scheduler, node } = await start({ latency: { kind: 'constant', ms: 30 } });
  await node.start();
  scheduler.assign({ job_id: 'job-c' });
  scheduler.send({ type: 'job_cancel', job_id: 'job-c' });
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]).toMatchObject({ job_id: 'job-c', success: true });
});

it('drops a job that comes before the registration answer', async () => {
  let isReady = false;
  const { scheduler, node } = await start({}, { acknowledges: () => isReady });
  const started = node.start();
  await until(() => scheduler.registrations().length === 1);
  scheduler.assign({ job_id: 'job-early' });
  scheduler.send({ type: 'node_register_ack', node_id: 'node-x', message: '', status: 'ready' });
  await started;
  isReady = true;
  scheduler.assign({ job_id: 'job-after' });
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]).toMatchObject({ job_id: 'job-after', node_id: 'node-x' });
});

it('reconnects once, sends a heartbeat before it registers, and then stops', async () => {
  const { scheduler, node } = await start();
  await node.start();
  await until(() => scheduler.heartbeats().length === 1);
  scheduler.cut();
  await until(() => scheduler.registrations().length === 2);
  const types = scheduler.received.map((message) => message.type);
  expect(types.slice(0, 4)).toEqual(['node_register', 'node_heartbeat', 'node_heartbeat', 'node_register']);
  expect(scheduler.registrations()[1]?.node_id).toBe('node-given');
  await until(() => node.counts().isUp);
  scheduler.cut();
  await until(() => !node.counts().isUp);
  // There is no timer left that could bring it back.
  await node.stop();
  expect(scheduler.connections()).toBe(2);
});

it('stops when its second connection fails', async () => {
  const { scheduler, node } = await start();
  await scheduler.stop();
  open.splice(0, 1);
  await expect(node.start()).rejects.toThrow('tries twice');
});

it('queues jobs beyond its slots', async () => {
  const { scheduler, node } = await start({ latency: { kind: 'constant', ms: 10 } });
  await node.start();
  for (let index = 0; index < 4; index += 1)
    scheduler.assign(jobAssign({ job_id: `q-${index}`, utterance_index: index }));
  await until(() => scheduler.results().length === 4);
  expect(scheduler.results().map(({ job_id }) => job_id)).toEqual(['q-0', 'q-1', 'q-2', 'q-3']);
});
