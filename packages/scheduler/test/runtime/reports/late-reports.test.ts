/** Reports that arrive after their attempt was abandoned or their job was settled: what becomes of the slot and the failure. */
import { describe, expect, it } from 'vitest';
import { ANY_ATTEMPT } from '../../../src/domain/node-report.ts';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { holdDelivery } from '../rigs/hold-delivery.ts';
import { createRig, legacyProfile, RESULT, type Rig, SETTINGS } from '../rigs/rig.ts';

const FAILURE = { code: 'PROCESSING_ERROR', message: 'GPU lease timeout' };

describe('a report that changes nothing names its reason', () => {
  it('fenced: another instance drives the job', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    const answer = rig.last(jobId);
    rig.service.dropAll();
    expect(await rig.service.acknowledge(answer)).toEqual({ kind: 'ignored', reason: 'fenced' });
    expect(await rig.service.finish(answer, RESULT)).toEqual({ kind: 'ignored', reason: 'fenced' });
  });

  it('settled: the job ended while the report was handled', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    holdDelivery(rig, 'node-a');
    void rig.service.dispatch(rig.request({ requestId: 'r', fingerprint: 'f' }));
    await rig.clock.advance(10);
    const jobId = (await rig.store.bound('default', 'r'))?.jobId ?? '';
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: 100 } });
    const finishing = rig.service.finish({ nodeId: 'node-a', jobId, attempt: 1 }, RESULT);
    await rig.service.cancel(jobId, 'stop');
    await rig.clock.advance(200);
    expect(await finishing).toEqual({ kind: 'ignored', reason: 'settled' });
  });
});

describe('a result without an attempt number', () => {
  it('frees the slot of its node although the job is being cancelled', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a', 1, legacyProfile());
    const { jobId } = await rig.dispatch();
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: 100 } });
    const cancelling = rig.service.cancel(jobId, 'stop');
    const answer = { nodeId: 'node-a', jobId, attempt: ANY_ATTEMPT };
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('ignored');
    expect(await rig.used('node-a')).toBe(0);
    await rig.clock.advance(200);
    expect((await cancelling).kind).toBe('cancelled');
    expect(await rig.used('node-a')).toBe(0);
    expect(await rig.service.finish(answer, RESULT)).toEqual({ kind: 'ignored', reason: 'settled' });
  });
});

describe('a node that reported its failure', () => {
  it.each([
    ['cancelled', (rig: Rig, jobId: string) => rig.service.cancel(jobId, 'stop')],
    ['over', (rig: Rig) => rig.clock.advance(SETTINGS.jobDeadlineMs)],
  ])('gets no cancel when the job is %s', async (_, ends) => {
    const rig = createRig({ settings: { pendingTimeoutMs: 2 * SETTINGS.jobDeadlineMs } });
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.service.fail(rig.last(jobId), FAILURE);
    expect(await rig.state(jobId)).toBe('RETRYING');
    await ends(rig, jobId);
    expect([await rig.state(jobId), rig.cancelled]).toEqual(['RELEASED', []]);
    expect((await rig.store.get(jobId))?.timeline.at(-1)?.reason).toBeUndefined();
  });

  it('gets no cancel when another node has the job', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    await rig.service.fail(rig.last(jobId), FAILURE);
    expect([rig.last(jobId).nodeId, rig.cancelled, ledger.calls('abandon')]).toEqual(['node-b', [], 0]);
  });
});

describe('the slot of an abandoned attempt', () => {
  it('of a lost node is free when its report omits the job', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 2);
    const job = await rig.dispatch();
    await rig.service.acknowledge(rig.last(job.jobId));
    rig.service.nodeLeft('node-a', 0);
    await rig.clock.advance(0);
    expect(await rig.state(job.jobId)).toBe('RETRYING');
    expect(await rig.used('node-a')).toBe(1);
    await rig.ledger.reconcile('node-a', { running: 1, runningJobIds: [job.jobId] });
    expect(await rig.used('node-a')).toBe(1);
    await rig.ledger.reconcile('node-a', { running: 0, runningJobIds: [] });
    expect(await rig.used('node-a')).toBe(0);
  });

  it('of a silent node is free when its report omits the job', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    await rig.clock.advance(3_050);
    expect([rig.last(jobId).nodeId, await rig.used('node-a')]).toEqual(['node-b', 1]);
    await rig.ledger.reconcile('node-a', { running: 0, runningJobIds: [] });
    expect(await rig.used('node-a')).toBe(0);
  });

  it('of a late delivery is free when the report omits the job', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const endDelivery = holdDelivery(rig, 'node-a');
    void rig.service.dispatch(rig.request({ requestId: 'r', fingerprint: 'f' }));
    await rig.clock.advance(10);
    const job = await rig.store.bound('default', 'r');
    await rig.service.cancel(job?.jobId ?? '', 'session left');
    endDelivery();
    await rig.clock.advance(10);
    expect(await rig.used('node-a')).toBe(1);
    await rig.ledger.reconcile('node-a', { running: 0, runningJobIds: [] });
    expect(await rig.used('node-a')).toBe(0);
  });

  it('is taken again by a late acknowledgement', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    rig.service.nodeReturned('node-a', []);
    await rig.clock.advance(100);
    expect([await rig.state(jobId), await rig.used('node-a')]).toEqual(['RETRYING', 0]);
    expect((await rig.service.acknowledge(rig.last(jobId))).kind).toBe('accepted');
    expect([await rig.state(jobId), await rig.used('node-a')]).toEqual(['RUNNING', 1]);
    expect(rig.leaseToReplay(jobId, 1)).toBeDefined();
  });

  it('is released by a late failure that changes nothing else', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const job = await rig.dispatch();
    const first = rig.last(job.jobId);
    await rig.clock.advance(3_050);
    const second = rig.last(job.jobId);
    expect(second.attempt).toBe(2);
    expect(await rig.used(first.nodeId)).toBe(1);
    expect(await rig.service.fail(first, FAILURE)).toEqual({ kind: 'ignored', reason: 'fenced' });
    expect(await rig.used(first.nodeId)).toBe(0);
    expect(await rig.used(second.nodeId)).toBe(1);
    expect((await rig.service.finish(second, RESULT)).kind).toBe('accepted');
  });

  it('is released by a failure after the outcome', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    const answer = rig.last(job.jobId);
    await rig.service.acknowledge(answer);
    await rig.service.cancel(job.jobId, 'session left');
    expect(await rig.used('node-a')).toBe(1);
    expect(await rig.service.fail(answer, FAILURE)).toEqual({ kind: 'ignored', reason: 'settled' });
    expect(await rig.used('node-a')).toBe(0);
  });
});

describe('a job that reaches its deadline', () => {
  it('ends with the last real failure when a later attempt still runs', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const job = await rig.dispatch();
    await rig.service.acknowledge(rig.last(job.jobId));
    await rig.clock.advance(40_000);
    await rig.service.fail(rig.last(job.jobId), FAILURE);
    const second = rig.last(job.jobId);
    expect(second.attempt).toBe(2);
    await rig.service.acknowledge(second);
    await rig.clock.advance(49_000);
    expect(await rig.state(job.jobId)).toBe('RUNNING');
    await rig.clock.advance(1_050);
    expect((await rig.store.get(job.jobId))?.failure).toEqual(FAILURE);
    expect(rig.cancelled.at(-1)).toMatchObject({ nodeId: second.nodeId, jobId: job.jobId });
  });

  it('ends with JOB_TIMEOUT when nothing failed before', async () => {
    const rig = createRig({ settings: { jobTimeoutMs: 200_000 } });
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.service.acknowledge(rig.last(job.jobId));
    await rig.clock.advance(90_050);
    expect((await rig.store.get(job.jobId))?.failure?.code).toBe('JOB_TIMEOUT');
  });
});
