/** A job whose driver is dead goes on with another instance, in every state, from its record alone. */
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/domain/job.ts';
import { holdDelivery } from '../rigs/hold-delivery.ts';
import { legacyProfile, RESULT } from '../rigs/rig.ts';
import { createInstances, type Instances } from '../rigs/two-instances.ts';

const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };
const NO_AUDIO = { kind: 'none' } as const;

/** Needs no audio, so that the new driver can send it at once. */
async function dispatch({ first }: Instances, waitMs = 0) {
  const request = first.request({ waitMs, requestId: 'r', fingerprint: 'f' });
  const { audio: _, ...rest } = { ...request, spec: { ...request.spec, audio: NO_AUDIO } };
  const outcome = first.service.dispatch(rest);
  await first.clock.advance(1);
  return { outcome, jobId: (await first.store.bound('default', 'r'))?.jobId ?? '' };
}

/** As after a crash: the first instance does nothing any more. */
async function crash(instances: Instances, jobId: string): Promise<JobRecord> {
  instances.first.service.dropAll();
  return instances.takeOver(jobId);
}

describe('resuming a job', () => {
  it('a job that never had a node waits ahead of new jobs', async () => {
    const instances = createInstances();
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    await first.dispatch();
    const { jobId } = await dispatch(instances, 5_000);
    expect((await crash(instances, jobId)).state).toBe('CREATED');
    // Longer than any new request may wait.
    await first.clock.advance(20_000);
    expect(second.service.waiting()).toBe(1);
    const fresh = second.service.dispatch(second.request({ waitMs: 5_000 }));
    await second.addNode('node-b');
    await first.clock.advance(300);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 1 });
    expect(await record(jobId)).toMatchObject({ state: 'DISPATCHED' });
    await first.clock.advance(6_000);
    expect((await fresh).kind).toBe('refused');
  });

  it('a job that finds no node by its deadline fails', async () => {
    const instances = createInstances();
    const { first, addNode, record } = instances;
    await addNode('node-a');
    await first.dispatch();
    const { jobId } = await dispatch(instances, 5_000);
    await crash(instances, jobId);
    // The node is full until the timeout of its first job.
    await first.service.acknowledge(first.last(first.sent[0]?.job.jobId ?? ''));
    first.fleet.remove('node-a');
    instances.second.fleet.remove('node-a');
    await first.clock.advance(90_100);
    const { state, failure, timeline, createdAt } = await record(jobId);
    expect([state, failure?.code]).toEqual(['RELEASED', 'JOB_TIMEOUT']);
    expect((timeline.at(-1)?.at ?? 0) - createdAt).toBeLessThanOrEqual(90_100);
  });

  it('accepts the report of a node whose delivery was not recorded', async () => {
    const instances = createInstances();
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    await addNode('node-b');
    for (const nodeId of ['node-a', 'node-b']) holdDelivery(first, nodeId);
    const { jobId } = await dispatch(instances);
    const { state, intent } = await crash(instances, jobId);
    expect(state).toBe('RESERVED');
    await first.clock.advance(2_000);
    const answer = { nodeId: intent?.nodeId ?? '', jobId, attempt: 1 };
    expect((await second.service.acknowledge(answer)).kind).toBe('accepted');
    await first.clock.advance(10_000);
    expect(second.sent).toEqual([]);
    expect((await second.service.finish(answer, RESULT)).kind).toBe('accepted');
    expect(await record(jobId)).toMatchObject({ state: 'RELEASED', result: RESULT });
    expect(await first.used(answer.nodeId)).toBe(0);
  });

  it('tries another node when the intended node stays silent', async () => {
    const instances = createInstances();
    const { first, second, addNode } = instances;
    await addNode('node-a');
    holdDelivery(first, 'node-a');
    const { jobId } = await dispatch(instances);
    await crash(instances, jobId);
    await addNode('node-b');
    await first.clock.advance(2_900);
    expect(second.sent).toEqual([]);
    await first.clock.advance(200);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(await first.used('node-a')).toBe(1);
    // Its report decides about the slot, as for every abandoned attempt.
    await first.ledger.reconcile('node-a', { running: 0, runningJobIds: [] });
    expect(await first.used('node-a')).toBe(0);
    // Too late: another attempt holds the fence.
    expect((await second.service.finish({ nodeId: 'node-a', jobId, attempt: 1 }, RESULT)).kind).toBe(
      'ignored',
    );
    expect((await second.service.finish(second.last(jobId), RESULT)).kind).toBe('accepted');
    await first.clock.advance(5_000);
    expect([await first.used('node-a'), await first.used('node-b')]).toEqual([0, 0]);
  });

  it('waits for a node when the intended node was the only one', async () => {
    const instances = createInstances();
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    holdDelivery(first, 'node-a');
    const { jobId } = await dispatch(instances);
    await crash(instances, jobId);
    await first.clock.advance(30_000);
    expect(await record(jobId)).toMatchObject({ state: 'RETRYING', intent: undefined });
    await second.addNode('node-c');
    await first.clock.advance(300);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-c', attempt: 2 });
  });

  it('a dispatched attempt gets a new acknowledgement timeout', async () => {
    const instances = createInstances();
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    const { jobId } = await dispatch(instances);
    await first.clock.advance(2_000);
    expect((await crash(instances, jobId)).state).toBe('DISPATCHED');
    await addNode('node-b');
    await first.clock.advance(2_900);
    expect(second.sent).toEqual([]);
    await first.clock.advance(200);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect((await record(jobId)).timeline.find(({ state }) => state === 'RETRYING')?.reason).toBe(
      'ACK_TIMEOUT',
    );
  });

  it('a legacy node gets the job timeout', async () => {
    const instances = createInstances();
    const { first, second, addNode, record } = instances;
    await addNode('node-a', 1, legacyProfile());
    const { jobId } = await dispatch(instances);
    await crash(instances, jobId);
    await addNode('node-b');
    await first.clock.advance(59_900);
    expect((await record(jobId)).state).toBe('DISPATCHED');
    await first.clock.advance(300);
    expect(await record(jobId)).toMatchObject({ state: 'RELEASED', failure: { code: 'JOB_TIMEOUT' } });
    expect(second.sent).toEqual([]);
  });

  it('a running attempt gets the rest of its job timeout', async () => {
    const instances = createInstances();
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    const { jobId } = await dispatch(instances);
    await first.service.acknowledge(first.last(jobId));
    await first.clock.advance(40_000);
    expect((await crash(instances, jobId)).state).toBe('RUNNING');
    await addNode('node-b');
    await first.clock.advance(19_900);
    expect((await record(jobId)).state).toBe('RUNNING');
    await first.clock.advance(200);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('a running attempt gets one job timeout although the other clock was ahead', async () => {
    const instances = createInstances();
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    const { jobId } = await dispatch(instances);
    await first.service.acknowledge(first.last(jobId));
    const found = await record(jobId);
    first.service.dropAll();
    await addNode('node-b');
    instances.drivers.assign(jobId, 'second');
    const ahead = 3_600_000;
    second.service.resume({
      ...found,
      deadlineAt: found.deadlineAt + ahead,
      timeline: found.timeline.map((entry) => ({ ...entry, at: entry.at + ahead })),
    });
    await first.clock.advance(60_100);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('a job whose deadline has passed ends at once', async () => {
    const instances = createInstances();
    const { first, addNode, record } = instances;
    await addNode('node-a');
    const { jobId } = await dispatch(instances);
    await first.service.acknowledge(first.last(jobId));
    first.service.dropAll();
    await first.clock.advance(120_000);
    await instances.takeOver(jobId);
    await first.clock.advance(40);
    expect(await record(jobId)).toMatchObject({ state: 'RELEASED', failure: { code: 'JOB_TIMEOUT' } });
    expect(instances.second.service.inFlight()).toBe(0);
  });

  it('a retrying job gets another node at once', async () => {
    const instances = createInstances();
    const { first, second, addNode } = instances;
    await addNode('node-a');
    const { jobId } = await dispatch(instances);
    await first.service.fail(first.last(jobId), FAILURE);
    expect((await crash(instances, jobId)).state).toBe('RETRYING');
    // A node that had the job does not get it again.
    expect([second.sent.length, second.service.waiting()]).toEqual([0, 1]);
    await second.addNode('node-b');
    await first.clock.advance(300);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('accepts a late acknowledgement and result of an abandoned attempt', async () => {
    const instances = createInstances();
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    const { jobId } = await dispatch(instances);
    await first.clock.advance(3_100);
    expect((await crash(instances, jobId)).state).toBe('RETRYING');
    expect((await second.service.acknowledge(first.last(jobId))).kind).toBe('accepted');
    await first.clock.advance(50_000);
    expect((await record(jobId)).state).toBe('RUNNING');
    expect((await second.service.finish(first.last(jobId), RESULT)).kind).toBe('accepted');
  });

  it('counts the retries of the previous driver against max_retry', async () => {
    const instances = createInstances({ settings: { maxRetry: 1 } });
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    const { jobId } = await dispatch(instances);
    await first.service.fail(first.last(jobId), FAILURE);
    await crash(instances, jobId);
    await addNode('node-b');
    await addNode('node-c');
    await first.clock.advance(300);
    await second.service.fail(second.last(jobId), FAILURE);
    expect(await record(jobId)).toMatchObject({ state: 'RELEASED', failure: FAILURE });
  });

  it('resuming twice, or with an old record, changes nothing', async () => {
    const instances = createInstances();
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    const { jobId } = await dispatch(instances);
    const found = await crash(instances, jobId);
    await second.service.acknowledge(first.last(jobId));
    second.service.resume(found);
    expect(second.recordsToReplay().map(({ state }) => state)).toEqual(['RUNNING']);
    await second.service.finish(first.last(jobId), RESULT);
    second.service.resume(found);
    await first.clock.advance(90_100);
    expect(second.service.inFlight()).toBe(0);
    expect(second.sent).toEqual([]);
    expect(await record(jobId)).toMatchObject({ state: 'RELEASED', result: RESULT });
  });
});
