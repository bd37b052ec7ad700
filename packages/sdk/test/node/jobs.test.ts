/** Jobs of a node: one result each, within the slots, none run twice. */
import { expect, it } from 'vitest';
import { JobError, type JobHandler, type JobOutput } from '../../src/node/index.ts';
import { until } from './support/scripted-scheduler.ts';
import { createGate, startNode } from './support/start-node.ts';

const untilAborted: JobHandler = (_, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));

it('a job is acknowledged, started and answered with its fields', async () => {
  const { scheduler, node } = await startNode();
  scheduler.assign({ job_id: 'job-a', attempt_id: 3, group_id: 'g-1', part_index: 2, utterance_index: 7 });
  await until(() => scheduler.results().length > 0);
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
  await until(() => node.metrics().kept === 0);
  expect(node.metrics()).toMatchObject({ jobs: 1, succeeded: 1, running: 0, dropped: 0 });
  expect(scheduler.refused).toEqual([]);
});

it('a node without job_ack acknowledges nothing', async () => {
  const { scheduler } = await startNode({ supports: [] });
  scheduler.assign();
  await until(() => scheduler.results().length === 1);
  expect(scheduler.ofType('job_ack')).toEqual([]);
  expect(scheduler.ofType('job_started')).toEqual([]);
});

it('partial texts are sent during the job, and none after', async () => {
  let late: (text: string) => void = () => {};
  const { scheduler } = await startNode({
    onJob: (_, { partial }) => {
      partial('hel');
      partial('hello', true);
      late = partial;
      return {};
    },
  });
  scheduler.assign({ utterance_index: 4 });
  await until(() => scheduler.results().length === 1);
  late('too late');
  scheduler.assign();
  await until(() => scheduler.results().length === 2);
  expect(scheduler.ofType('asr_partial').map(({ text, is_final }) => [text, is_final])).toEqual([
    ['hel', false],
    ['hello', true],
    ['hel', false],
    ['hello', true],
  ]);
});

it('texts are told before the result by a node that supports stage_results, and by no other', async () => {
  for (const supports of [['stage_results'], []] as const) {
    const { scheduler } = await startNode({
      supports,
      onJob: (_, { texts }) => {
        texts({ text_asr: 'hello', text_translated: 'hola' });
        return {};
      },
    });
    scheduler.assign({ attempt_id: 2 });
    await until(() => scheduler.results().length === 1);
    const told = scheduler.ofType('job_text');
    expect(told).toMatchObject(
      supports.length === 0 ? [] : [{ attempt_id: 2, text_asr: 'hello', text_translated: 'hola' }],
    );
  }
});

it('bytes are sent as base64', async () => {
  const { scheduler } = await startNode({
    onJob: () => ({ tts_audio: Uint8Array.of(1, 2, 3), tts_format: 'pcm16' }),
  });
  scheduler.assign();
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]?.tts_audio).toBe('AQID');
});

it('jobs beyond the slots are refused until a slot is free', async () => {
  const gate = createGate();
  const { scheduler, node } = await startNode({ onJob: () => gate.passed.then(() => ({})) });
  for (const job_id of ['job-a', 'job-b', 'job-c']) scheduler.assign({ job_id });
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]).toMatchObject({
    job_id: 'job-c',
    success: false,
    error: { code: 'NODE_OVERLOADED', details: { running: 2, max: 2 } },
  });
  expect(scheduler.ofType('job_ack').map(({ job_id }) => job_id)).toEqual(['job-a', 'job-b']);
  expect(node.metrics()).toMatchObject({ running: 2, refused: 1 });
  gate.open();
  await until(() => scheduler.results().length === 3);
  scheduler.assign({ job_id: 'job-c' });
  await until(() => scheduler.results().length === 4);
  expect(scheduler.results()[3]).toMatchObject({ job_id: 'job-c', success: true });
});

it('a failed job has its reason', async () => {
  const failures: Record<string, () => JobOutput> = {
    'job-plain': () => {
      throw new Error('no luck');
    },
    'job-coded': () => {
      throw new JobError('MODEL_NOT_AVAILABLE', 'no model', { service_id: 'nmt-x' });
    },
    'job-cyclic': () => {
      const cycle: Record<string, unknown> = {};
      cycle.self = cycle;
      throw new JobError('OWN_CODE', 'odd', cycle);
    },
    'job-nothing': () => undefined as unknown as JobOutput,
    'job-invalid': () => ({ text_asr: 7 }) as unknown as JobOutput,
    'job-unwritable': () => ({ extra: { big: 1n } }),
  };
  const { scheduler, node } = await startNode({
    maxConcurrentJobs: 9,
    onJob: (job) => failures[job.job_id]?.() as JobOutput,
  });
  for (const job_id of Object.keys(failures)) scheduler.assign({ job_id });
  await until(() => scheduler.results().length === 6);
  const errors = Object.fromEntries(scheduler.results().map(({ job_id, error }) => [job_id, error]));
  expect(errors).toEqual({
    'job-plain': { code: 'PROCESSING_ERROR', message: 'no luck' },
    'job-coded': { code: 'MODEL_NOT_AVAILABLE', message: 'no model', details: { service_id: 'nmt-x' } },
    'job-cyclic': { code: 'OWN_CODE', message: 'odd' },
    'job-nothing': { code: 'PROCESSING_ERROR', message: expect.stringContaining('no result') },
    'job-invalid': {
      code: 'PROCESSING_ERROR',
      message: expect.stringContaining('"text_asr" must be a string'),
    },
    'job-unwritable': { code: 'PROCESSING_ERROR', message: expect.stringContaining('BigInt') },
  });
  expect(node.metrics()).toMatchObject({ failed: 6, succeeded: 0, running: 0 });
  expect(scheduler.refused).toEqual([]);
});

it('a cancelled job is confirmed when it has really ended', async () => {
  const { scheduler, node } = await startNode({ onJob: untilAborted });
  scheduler.assign({ job_id: 'job-a' });
  await until(() => node.metrics().running === 1);
  scheduler.send({ type: 'job_cancel', job_id: 'job-a', reason: 'session left' });
  scheduler.send({ type: 'job_cancel', job_id: 'job-unknown' });
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]).toMatchObject({
    job_id: 'job-a',
    success: false,
    error: { code: 'JOB_CANCELLED', message: 'session left' },
  });
  expect(node.metrics()).toMatchObject({ cancelled: 1, failed: 0, running: 0 });
});

it('a cancellation is not confirmed without cancel_ack', async () => {
  const { scheduler, node } = await startNode({ onJob: untilAborted, supports: ['job_ack'] });
  scheduler.assign({ job_id: 'job-a' });
  await until(() => node.metrics().running === 1);
  scheduler.send({ type: 'job_cancel', job_id: 'job-a' });
  await until(() => node.metrics().cancelled === 1);
  expect(node.metrics()).toMatchObject({ running: 0, kept: 0 });
  expect(scheduler.results()).toEqual([]);
});

it('a new attempt is refused while the old one is still ending', async () => {
  const gate = createGate();
  const onJob = () => gate.passed.then(() => ({ text_asr: 'late', text_translated: 'spät' }));
  const { scheduler, node } = await startNode({ onJob });
  scheduler.assign({ job_id: 'job-a', attempt_id: 1 });
  await until(() => node.metrics().running === 1);
  scheduler.send({ type: 'job_cancel', job_id: 'job-a' });
  scheduler.assign({ job_id: 'job-a', attempt_id: 2 });
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]).toMatchObject({ attempt_id: 2, error: { code: 'NODE_OVERLOADED' } });
  expect(scheduler.ofType('job_ack').map(({ attempt_id }) => attempt_id)).toEqual([1]);
  gate.open();
  await until(() => scheduler.results().length === 2);
  expect(scheduler.results()[1]).toMatchObject({ attempt_id: 1, error: { code: 'JOB_CANCELLED' } });
  expect(node.metrics()).toMatchObject({ refused: 1, cancelled: 1, running: 0 });
});

it('a job is aborted at its deadline', async () => {
  const { scheduler } = await startNode({ onJob: untilAborted });
  scheduler.assign({ deadline_ms: Date.now() + 40 });
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]?.error?.code).toBe('JOB_TIMEOUT');
});

it('a job whose deadline passed on arrival still runs', async () => {
  const { scheduler, logged } = await startNode();
  scheduler.assign({ deadline_ms: Date.now() - 60_000 });
  await until(() => scheduler.results().length === 1);
  expect(scheduler.results()[0]?.success).toBe(true);
  expect(logged.some(({ message }) => message.includes('clock'))).toBe(true);
});

it('a repeated job runs only once', async () => {
  const gate = createGate();
  let runs = 0;
  const { scheduler, node } = await startNode({
    onJob: async () => {
      runs += 1;
      await gate.passed;
      return { text_asr: `run ${runs}` };
    },
  });
  scheduler.assign({ job_id: 'job-a' });
  scheduler.assign({ job_id: 'job-a', attempt_id: 2 });
  await until(() => scheduler.ofType('job_ack').length === 2);
  gate.open();
  await until(() => scheduler.results().length === 1);
  // The answer carries the attempt id of the last request.
  expect(scheduler.results()[0]).toMatchObject({ attempt_id: 2, text_asr: 'run 1' });
  scheduler.assign({ job_id: 'job-a', attempt_id: 2 });
  scheduler.assign({ job_id: 'job-a', attempt_id: 3 });
  await until(() => scheduler.results().length === 3);
  expect(scheduler.results().map(({ attempt_id, text_asr }) => [attempt_id, text_asr])).toEqual([
    [2, 'run 1'],
    [2, 'run 1'],
    [3, 'run 1'],
  ]);
  expect(runs).toBe(1);
  expect(node.metrics()).toMatchObject({ jobs: 1, duplicates: 3 });
});

it('a later attempt of a failed job runs again, the same one does not', async () => {
  let runs = 0;
  const { scheduler } = await startNode({
    onJob: () => {
      runs += 1;
      throw new Error(`failure ${runs}`);
    },
  });
  for (const attempt_id of [1, 1, 2]) {
    const before = scheduler.results().length;
    scheduler.assign({ job_id: 'job-a', attempt_id });
    await until(() => scheduler.results().length === before + 1);
  }
  expect(scheduler.results().map(({ error }) => error?.message)).toEqual([
    'failure 1',
    'failure 1',
    'failure 2',
  ]);
});

it('old results are evicted, so that the memory is bounded', async () => {
  let runs = 0;
  const { scheduler } = await startNode({
    limits: { maxRememberedResults: 2 },
    onJob: () => {
      runs += 1;
      return {};
    },
  });
  for (const job_id of ['job-a', 'job-b', 'job-c', 'job-a']) {
    const before = scheduler.results().length;
    scheduler.assign({ job_id });
    await until(() => scheduler.results().length === before + 1);
  }
  expect(runs).toBe(4);
});
