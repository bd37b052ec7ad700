import { afterEach, describe, expect, it } from 'vitest';
import { SchedulerError } from '../../../src/domain/errors.ts';
import { ANY_ATTEMPT } from '../../../src/domain/node-report.ts';
import { type Client, type Harness, type HarnessOptions, startHarness, until } from './harness.ts';
import { heartbeat, jobResult, register } from './messages.ts';

let harness: Harness;
afterEach(() => harness.stop());

async function registered(options?: HarnessOptions, fields = {}): Promise<Client> {
  harness = await startHarness(options);
  const client = await harness.connect();
  client.send(register({ node_id: 'node-a', ...fields }));
  await client.message(0);
  return client;
}

const attempt = { job_id: 'job-1', attempt_id: 2, node_id: 'node-a', session_id: 's-1', trace_id: 't-1' };
const partial = {
  type: 'asr_partial',
  job_id: 'job-1',
  node_id: 'node-a',
  session_id: 's-1',
  utterance_index: 0,
  text: 'hel',
  is_final: false,
  trace_id: 't-1',
};

describe('messages of a node about its jobs', () => {
  it.each(['job_ack', 'job_started'])('%s acknowledges the attempt', async (type) => {
    const client = await registered(undefined, { supports: ['job_ack'] });
    client.send({ type, ...attempt });
    await until(() => harness.jobs.calls.length === 1);
    expect(harness.jobs.calls).toEqual([
      { kind: 'acknowledge', answer: { nodeId: 'node-a', jobId: 'job-1', attempt: 2 } },
    ]);
  });

  it('job_ack followed by job_started acknowledges once', async () => {
    const client = await registered(undefined, { supports: ['job_ack'] });
    for (const type of ['job_ack', 'job_started', 'job_started']) client.send({ type, ...attempt });
    client.send({ type: 'job_started', ...attempt, job_id: 'job-2' });
    await until(() => harness.jobs.calls.length === 2);
    expect(harness.jobs.calls.map(({ answer }) => answer.jobId)).toEqual(['job-1', 'job-2']);
  });

  it('a result finishes the job, also without an acknowledgement', async () => {
    const client = await registered();
    client.send(
      jobResult('node-a', { extra: { emotion: 'calm' }, quality_score: 0.5, tts_audio: null as never }),
    );
    await until(() => harness.jobs.calls.length === 1);
    expect(harness.jobs.calls).toEqual([
      {
        kind: 'finish',
        answer: { nodeId: 'node-a', jobId: 'job-1', attempt: 1 },
        result: {
          textAsr: 'hello',
          textTranslated: 'hallo',
          ttsAudio: '',
          ttsFormat: '',
          extra: { emotion: 'calm' },
          details: { quality_score: 0.5 },
        },
      },
    ]);
  });

  it('a result without success fails the attempt', async () => {
    const client = await registered();
    const details = { service_id: 'nmt-1', reason: 'gone' };
    client.send(
      jobResult('node-a', { success: false, error: { code: 'MODEL_NOT_AVAILABLE', message: 'no', details } }),
    );
    client.send(jobResult('node-a', { success: false }));
    await until(() => harness.jobs.calls.length === 2);
    expect(harness.jobs.calls).toMatchObject([
      { kind: 'fail', failure: { code: 'MODEL_NOT_AVAILABLE', message: 'no', details } },
      { kind: 'fail', failure: { code: 'PROCESSING_ERROR' } },
    ]);
  });

  it('NO_TEXT_ASSIGNED of a legacy node is matched by node and job only', async () => {
    const client = await registered();
    client.send(
      jobResult('node-a', { attempt_id: 77, trace_id: 'other', extra: { reason: 'NO_TEXT_ASSIGNED' } }),
    );
    client.send(jobResult('node-a', { attempt_id: 77, extra: { reason: 'ASR_EMPTY' } }));
    await until(() => harness.jobs.calls.length === 2);
    expect(harness.jobs.calls.map(({ answer }) => answer.attempt)).toEqual([ANY_ATTEMPT, 77]);
  });

  it('NO_TEXT_ASSIGNED of other nodes is matched by attempt', async () => {
    const client = await registered(undefined, { supports: [] });
    client.send(jobResult('node-a', { attempt_id: 3, extra: { reason: 'NO_TEXT_ASSIGNED' } }));
    await until(() => harness.jobs.calls.length === 1);
    expect(harness.jobs.calls[0]?.answer.attempt).toBe(3);
  });

  it('partial text acknowledges the job once, and every piece is passed on', async () => {
    const seen: string[] = [];
    const client = await registered({ deps: { onPartial: (_, text) => seen.push(text) } });
    for (const text of ['h', 'he', 'hel']) client.send({ ...partial, text });
    await until(() => seen.length === 3);
    expect(harness.jobs.calls).toEqual([
      { kind: 'acknowledge', answer: { nodeId: 'node-a', jobId: 'job-1', attempt: ANY_ATTEMPT } },
    ]);
    expect(seen).toEqual(['h', 'he', 'hel']);
  });

  it('partial text of a job that is not running is dropped', async () => {
    const seen: string[] = [];
    const client = await registered({ deps: { onPartial: (_, text) => seen.push(text) } });
    harness.jobs.outcome = { kind: 'ignored', reason: 'fenced' };
    client.send(partial);
    client.send(heartbeat('node-a'));
    await until(() => harness.registry.beats.length === 1);
    expect(harness.jobs.calls).toHaveLength(1);
    expect(seen).toEqual([]);
  });

  it('the messages of one socket are handled in order', async () => {
    const client = await registered();
    let release: (() => void) | undefined;
    harness.jobs.before = (kind) =>
      kind === 'acknowledge'
        ? new Promise((resolve) => {
            release = resolve;
          })
        : undefined;
    const before = harness.connections[0]?.bytesRead ?? 0;
    const messages = [
      { type: 'job_ack', ...attempt },
      jobResult('node-a', { attempt_id: 2 }),
      heartbeat('node-a'),
    ];
    for (const message of messages) client.send(message);
    const bytes = messages.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
    await until(() => (harness.connections[0]?.bytesRead ?? 0) - before > bytes && release !== undefined);
    expect(harness.jobs.calls).toEqual([]);
    expect(harness.registry.beats).toEqual([]);
    release?.();
    await until(() => harness.registry.beats.length === 1);
    expect(harness.jobs.calls.map(({ kind }) => kind)).toEqual(['acknowledge', 'finish']);
  });

  it('a result received before the connection ended is handled before its end', async () => {
    const client = await registered();
    const order: string[] = [];
    let release = () => {};
    harness.jobs.before = (kind) => {
      if (kind === 'finish') order.push('finish');
      return kind === 'acknowledge'
        ? new Promise((resolve) => {
            release = resolve;
          })
        : undefined;
    };
    const { disconnected } = harness.registry;
    harness.registry.disconnected = (nodeId, generation) => {
      order.push('disconnected');
      disconnected(nodeId, generation);
    };
    client.send({ type: 'job_ack', ...attempt });
    client.send(jobResult('node-a', { attempt_id: 2 }));
    client.ws.close();
    await client.closed;
    await until(() => !harness.sockets.isConnected('node-a'));
    expect(order).toEqual([]);
    release();
    await until(() => order.length === 2);
    expect(order).toEqual(['finish', 'disconnected']);
  });

  it('a message for another node is refused with an error', async () => {
    const client = await registered();
    client.send(jobResult('node-b'));
    expect(await client.message(1)).toMatchObject({
      type: 'error',
      code: 'FORBIDDEN',
      details: { path: '/node_id' },
    });
    client.send(heartbeat('node-b'));
    expect(await client.message(2)).toMatchObject({ code: 'FORBIDDEN' });
    expect(harness.jobs.calls).toEqual([]);
    expect(harness.registry.beats).toEqual([]);
  });

  it('a message before the registration is refused', async () => {
    harness = await startHarness({ settings: { maxInvalidMessages: 0 } });
    const client = await harness.connect();
    client.send(jobResult('node-a'));
    expect(await client.message(0)).toMatchObject({ type: 'error', code: 'FORBIDDEN' });
    expect(harness.jobs.calls).toEqual([]);
  });

  it('a late report changes nothing and is no error', async () => {
    const client = await registered();
    harness.jobs.outcome = { kind: 'ignored', reason: 'settled' };
    client.send(jobResult('node-a'));
    client.send(register());
    expect(await client.message(1)).toMatchObject({ type: 'node_register_ack' });
    expect(harness.jobs.calls).toHaveLength(1);
  });

  it('a failing handler gives an error, and the socket stays open', async () => {
    const client = await registered();
    harness.jobs.before = () => {
      throw new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', 'Redis is down');
    };
    client.send(jobResult('node-a'));
    expect(await client.message(1)).toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    harness.jobs.before = () => Promise.reject(new Error('secret internals'));
    client.send(jobResult('node-a'));
    const error = await client.message(2);
    expect(error).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(JSON.stringify(error)).not.toContain('secret internals');
    harness.jobs.before = () => {};
    client.send(jobResult('node-a'));
    await until(() => harness.jobs.calls.length === 1);
  });

  it('a node_error is logged', async () => {
    const client = await registered();
    client.send({ type: 'node_error', node_id: 'node-a', code: 'GPU_LOST', message: 'x'.repeat(5_000) });
    await until(() => harness.log.lines.some(({ fields }) => fields.code === 'GPU_LOST'));
    expect(JSON.stringify(harness.log.lines)).not.toContain('x'.repeat(300));
  });

  it('recognised text is never logged', async () => {
    const client = await registered({ deps: { onPartial: () => {} } });
    client.send({ ...partial, text: 'private words' });
    client.send(jobResult('node-a', { text_asr: 'private words' }));
    client.send({ ...jobResult('node-a'), text_asr: 'private words', attempt_id: 'private words' });
    await client.message(1);
    expect(JSON.stringify(harness.log.lines)).not.toContain('private words');
  });
});

describe('heartbeat of a node', () => {
  it("a heartbeat carries the connection's generation and only its own fields", async () => {
    const client = await registered();
    client.send(heartbeat('node-a', { health: 'offline', running_job_ids: ['job-1'] }));
    client.send(heartbeat('node-a', { capability_by_type: [{ type: 'tts', ready: false }] }));
    await until(() => harness.registry.beats.length === 2);
    expect(harness.registry.beats).toEqual([
      {
        nodeId: 'node-a',
        generation: 1,
        resources: { cpuPercent: 12, memoryPercent: 40, runningJobs: 1 },
        health: 'offline',
        runningJobIds: ['job-1'],
      },
      {
        nodeId: 'node-a',
        generation: 1,
        resources: { cpuPercent: 12, memoryPercent: 40, runningJobs: 1 },
        report: { types: [{ type: 'tts', isReady: false }] },
      },
    ]);
  });
});
