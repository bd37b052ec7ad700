/** An attempt without a result counts as in work until two heartbeats in a row do not count it. */
import type { JobAssign, NodeHeartbeat } from '@lingua/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { createUnansweredAttempts } from '../../../src/transport/ws/unanswered-attempts.ts';
import { type Harness, startHarness, until } from './harness.ts';
import { heartbeat, jobResult, register } from './messages.ts';
import { createSteppedClock } from './stepped-clock.ts';

const assign = (job_id: string, attempt_id = 1): JobAssign =>
  ({ type: 'job_assign', job_id, attempt_id }) as JobAssign;

const counting = (running_jobs: number): NodeHeartbeat =>
  heartbeat('node-a', { resource_usage: { cpu_percent: 1, mem_percent: 1, running_jobs } });
const naming = (...running_job_ids: string[]): NodeHeartbeat => heartbeat('node-a', { running_job_ids });

const LEGACY = true;
const BEAT_MS = 15_000;

/** Heartbeats arrive `BEAT_MS` apart, unless a test says otherwise. */
function createStepped() {
  const clock = createSteppedClock();
  const attempts = createUnansweredAttempts({ clock });
  return {
    ...attempts,
    heartbeat(message: NodeHeartbeat, isLegacy: boolean, afterMs = BEAT_MS) {
      clock.advance(afterMs);
      return attempts.heartbeat(message, isLegacy);
    },
  };
}

describe('an attempt without a result', () => {
  it('a legacy attempt is over after two heartbeats with running_jobs 0', () => {
    const attempts = createStepped();
    attempts.handedOver(assign('job-1', 2));
    expect(attempts.heartbeat(counting(0), LEGACY)).toEqual([]);
    expect(attempts.heartbeat(counting(0), LEGACY)).toEqual([{ jobId: 'job-1', attempt: 2 }]);
    expect(attempts.heartbeat(counting(0), LEGACY)).toEqual([]);
  });

  it('a heartbeat that counts any job of a legacy node proves nothing', () => {
    const attempts = createStepped();
    for (const job of ['job-1', 'job-2']) attempts.handedOver(assign(job));
    for (const running of [0, 1, 0, 1, 1]) expect(attempts.heartbeat(counting(running), LEGACY)).toEqual([]);
  });

  it('heartbeats before the hand-over do not count', () => {
    const attempts = createStepped();
    attempts.handedOver(assign('job-1'));
    attempts.heartbeat(counting(0), LEGACY);
    attempts.handedOver(assign('job-2'));
    expect(attempts.heartbeat(counting(0), LEGACY)).toEqual([{ jobId: 'job-1', attempt: 1 }]);
    expect(attempts.heartbeat(counting(0), LEGACY)).toEqual([{ jobId: 'job-2', attempt: 1 }]);
  });

  it('heartbeats that a frozen process reads at once after a hand-over are not counted', () => {
    const attempts = createStepped();
    attempts.handedOver(assign('job-1'));
    for (let beats = 0; beats < 5; beats++) expect(attempts.heartbeat(counting(0), LEGACY, 1)).toEqual([]);
    expect(attempts.heartbeat(counting(0), LEGACY)).toEqual([]);
    expect(attempts.heartbeat(counting(0), LEGACY)).toEqual([{ jobId: 'job-1', attempt: 1 }]);
  });

  it('heartbeats read at once count as one', () => {
    const attempts = createStepped();
    attempts.handedOver(assign('job-1'));
    expect(attempts.heartbeat(counting(0), LEGACY)).toEqual([]);
    for (let beats = 0; beats < 5; beats++) expect(attempts.heartbeat(counting(0), LEGACY, 1)).toEqual([]);
    expect(attempts.heartbeat(counting(0), LEGACY)).toEqual([{ jobId: 'job-1', attempt: 1 }]);
  });

  it('a node that names its jobs has ended the one it does not name twice', () => {
    const attempts = createStepped();
    for (const job of ['job-1', 'job-2']) attempts.handedOver(assign(job));
    expect(attempts.heartbeat(naming('job-2'), !LEGACY)).toEqual([]);
    expect(attempts.heartbeat(naming('job-2'), !LEGACY)).toEqual([{ jobId: 'job-1', attempt: 1 }]);
  });

  it('a node with extensions that names no jobs proves nothing', () => {
    const attempts = createStepped();
    attempts.handedOver(assign('job-1'));
    for (let beats = 0; beats < 5; beats++) expect(attempts.heartbeat(counting(0), !LEGACY)).toEqual([]);
  });
});

describe('a node connection', () => {
  let harness: Harness;
  afterEach(() => harness.stop());

  it('reports NO_RESULT for an attempt that two heartbeats omit, not for an answered one', async () => {
    harness = await startHarness();
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    await client.message(0);
    for (const job of ['job-1', 'job-2']) harness.sockets.send('node-a', assign(job));
    client.send(jobResult('node-a'));
    for (let beats = 0; beats < 2; beats++) {
      harness.clock.advance(1_000);
      client.send(counting(0));
      await until(() => harness.registry.beats.length === beats + 1);
    }
    await until(() => harness.jobs.calls.length === 2);
    expect(harness.jobs.calls).toMatchObject([
      { kind: 'finish', answer: { jobId: 'job-1' } },
      {
        kind: 'fail',
        answer: { nodeId: 'node-a', jobId: 'job-2', attempt: 1 },
        failure: { code: 'NO_RESULT', message: expect.stringContaining('no result') },
      },
    ]);
  });
});
