/** Simulated nodes against a scripted scheduler: each behaviour matches its name. */
import { afterEach, expect, it } from 'vitest';
import {
  type Script,
  type ScriptedScheduler,
  startScriptedScheduler,
  until,
} from '../../../../sdk/test/node/support/scripted-scheduler.ts';
import { type Behaviour, HEALTHY } from '../../../src/cli/simulated-node/behaviour.ts';
import { createSimulatedNode, type SimulatedNode } from '../../../src/cli/simulated-node/simulated-node.ts';
import { STAGES, type Stage } from '../../../src/domain/stage.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const FAST: Behaviour = { ...HEALTHY, latency: { kind: 'constant', ms: 1 } };

async function start(
  behaviour: Partial<Behaviour>,
  script: Script = {},
  stages: readonly Stage[] = STAGES,
): Promise<{ scheduler: ScriptedScheduler; node: SimulatedNode }> {
  const scheduler = await startScriptedScheduler(script);
  open.push(scheduler.stop);
  const node = createSimulatedNode({
    url: scheduler.url,
    languages: ['en', 'de'],
    stages,
    slots: 2,
    behaviour: { ...FAST, ...behaviour },
    seed: 7,
  });
  open.push(node.stop);
  await node.start();
  return { scheduler, node };
}

it('reports the whole pipeline in its languages', async () => {
  const { scheduler } = await start({});
  expect(scheduler.registrations()[0]).toMatchObject({
    max_concurrent_jobs: 2,
    capability_schema_version: '2.0',
    language_capabilities: {
      asr_languages: ['en', 'de'],
      nmt_capabilities: [{ languages: ['en', 'de'], rule: 'any_to_any' }],
    },
  });
  expect(scheduler.refused).toEqual([]);
});

it('reports only its stages, and what they took', async () => {
  const { scheduler } = await start({}, {}, ['nmt']);
  expect(scheduler.registrations()[0]).toMatchObject({
    capability_by_type: [{ type: 'nmt', ready: true }],
    language_capabilities: { asr_languages: [], tts_languages: [] },
  });
  const pipeline = { use_asr: false, use_nmt: true, use_tts: false };
  scheduler.assign({ pipeline, stages: ['nmt'], input_text: 'hello' });
  await until(() => scheduler.results().length === 1);
  const [result] = scheduler.results();
  expect(Object.keys(result?.extra?.service_timings ?? {})).toEqual(['nmt_ms', 'total_ms']);
});

it('marks its results as simulated', async () => {
  const { scheduler } = await start({});
  scheduler.assign({});
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]).toMatchObject({ success: true, extra: { simulated: true } });
});

it('sends a sentence and its translation', async () => {
  const { scheduler, node } = await start({});
  scheduler.assign({ enable_streaming_asr: true });
  await until(() => scheduler.results().length === 1);
  const [result] = scheduler.results();
  expect(result).toMatchObject({ success: true, tts_format: 'pcm16' });
  expect(result?.text_asr).not.toBe(result?.text_translated);
  expect(result?.text_asr).toBe(scheduler.ofType('asr_partial')[0]?.text);
  expect(node.counts()).toMatchObject({ isUp: true, done: 1, failed: 0 });
  expect(scheduler.refused).toEqual([]);
});

it('fails with the configured code', async () => {
  const { scheduler, node } = await start({ failureRate: 1, failureCode: 'MODEL_LOAD_FAILED' });
  scheduler.assign();
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]?.error?.code).toBe('MODEL_LOAD_FAILED');
  expect(node.counts()).toMatchObject({ done: 0, failed: 1 });
});

it('names the service it lacks', async () => {
  const { scheduler } = await start({ modelNotAvailableRate: 1, modelNotAvailableService: 'nmt-x' });
  scheduler.assign();
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]?.error).toMatchObject({
    code: 'MODEL_NOT_AVAILABLE',
    details: { service_id: 'nmt-x', service_version: '1.0.0', reason: 'simulated' },
  });
});

it('rejects without an acknowledgement when it simulates a full node', async () => {
  const { scheduler } = await start({ overloadRate: 1 });
  scheduler.assign();
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]?.error).toMatchObject({
    code: 'NODE_OVERLOADED',
    details: { running: 2, max: 2 },
  });
  expect(scheduler.ofType('job_ack')).toEqual([]);
});

it('acknowledges a job without a result, even when it is cancelled', async () => {
  const { scheduler, node } = await start({ silenceRate: 1 });
  const job = scheduler.assign();
  await until(() => scheduler.ofType('job_ack').length === 1);
  scheduler.send({ type: 'job_cancel', job_id: job.job_id });
  await until(() => node.counts().silent === 1);
  expect(node.counts().running).toBe(0);
  expect(scheduler.results()).toEqual([]);
});

it('sends a result without an acknowledgement', async () => {
  const { scheduler } = await start({ ackSilenceRate: 1 });
  scheduler.assign();
  await until(() => scheduler.results().length === 1);
  expect(scheduler.ofType('job_ack')).toEqual([]);
  expect(scheduler.ofType('job_started')).toEqual([]);
});

it('sends a late result, even after the deadline', async () => {
  const { scheduler } = await start({ lateRate: 1, lateMs: 120 });
  const assignedAt = Date.now();
  scheduler.assign({ deadline_ms: assignedAt + 30 });
  await until(() => scheduler.results().length === 1);
  expect(Date.now() - assignedAt).toBeGreaterThanOrEqual(115);
  expect(scheduler.results()[0]?.success).toBe(true);
});

it('sends a result twice', async () => {
  const { scheduler } = await start({ duplicateRate: 1 });
  scheduler.assign();
  await until(() => scheduler.results().length === 2);
  expect(scheduler.results()[0]).toEqual(scheduler.results()[1]);
});

it('closes the connection on a crash, and returns without jobs', async () => {
  const { scheduler, node } = await start({
    latency: { kind: 'constant', ms: 60_000 },
    crashAfterJobs: 2,
    restartAfterMs: 10,
  });
  scheduler.assign();
  await until(() => scheduler.ofType('job_ack').length === 1);
  scheduler.assign();
  await until(() => scheduler.registrations().length === 2);
  await until(() => node.counts().isUp);
  expect(node.counts()).toMatchObject({ crashes: 1, silent: 2, running: 0, failed: 0 });
  expect(scheduler.registrations()[1]).toMatchObject({ node_id: 'node-given', running_job_ids: [] });
  expect(scheduler.results()).toEqual([]);
});

it('stays offline after a crash if it is configured so', async () => {
  const { scheduler, node } = await start({ crashAfterJobs: 1 });
  scheduler.assign();
  await until(() => node.counts().crashes === 1);
  expect(node.counts().isUp).toBe(false);
  await node.stop();
  expect(scheduler.registrations()).toHaveLength(1);
});
