/** Deliveries whose reply arrives late or after other events of the same job. */
import { describe, expect, it } from 'vitest';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { holdDelivery } from '../rigs/hold-delivery.ts';
import { createRig, RESULT } from '../rigs/rig.ts';

const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };
const UNTRANSLATED = { ...RESULT, textTranslated: '' };

describe('a late reply of a delivery', () => {
  it('does not revive an attempt that already failed', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const returnA = holdDelivery(rig, 'node-a');
    const outcome = rig.service.dispatch(rig.request({ requestId: 'r', fingerprint: 'f' }));
    await rig.clock.advance(1);
    const jobId = (await rig.store.bound('default', 'r'))?.jobId ?? '';
    await rig.addNode('node-b');
    const returnB = holdDelivery(rig, 'node-b');
    void rig.service.fail({ nodeId: 'node-a', jobId, attempt: 1 }, FAILURE);
    await rig.clock.advance(1);
    returnA();
    await rig.clock.advance(1);
    returnB();
    await rig.clock.advance(1);
    expect((await outcome).kind).toBe('dispatched');
    expect((await rig.store.get(jobId))?.fence).toEqual({ nodeId: 'node-b', attempt: 2 });
    expect((await rig.service.finish({ nodeId: 'node-b', jobId, attempt: 2 }, RESULT)).kind).toBe('accepted');
    await rig.clock.advance(100_000);
    expect([await rig.used('node-a'), await rig.used('node-b')]).toEqual([0, 0]);
  });

  it('the job is dispatched with a result that arrived before it', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const endDelivery = holdDelivery(rig, 'node-a');
    const outcome = rig.service.dispatch(rig.request({ requestId: 'r', fingerprint: 'f' }));
    await rig.clock.advance(1);
    const jobId = (await rig.store.bound('default', 'r'))?.jobId ?? '';
    expect((await rig.service.finish({ nodeId: 'node-a', jobId, attempt: 1 }, RESULT)).kind).toBe('accepted');
    endDelivery();
    await rig.clock.advance(1);
    expect(await outcome).toMatchObject({ kind: 'dispatched', job: { jobId } });
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', result: RESULT });
    expect(await rig.used('node-a')).toBe(0);
    expect(rig.service.inFlight()).toBe(0);
  });

  it('a job is retried when its late-acknowledging node leaves', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    const first = rig.last(job.jobId);
    await rig.addNode('node-b');
    const returnB = holdDelivery(rig, 'node-b');
    await rig.clock.advance(3_100);
    expect((await rig.service.acknowledge(first)).kind).toBe('accepted');
    returnB();
    await rig.clock.advance(1);
    expect((await rig.store.get(job.jobId))?.fence).toEqual({ nodeId: 'node-a', attempt: 1 });
    await rig.addNode('node-c');
    rig.fleet.remove('node-a');
    rig.service.nodeLeft('node-a', 0);
    await rig.clock.advance(1);
    expect(rig.last(job.jobId).nodeId).toBe('node-c');
  });

  it('I3 one outcome: an attempt number is used for one node only', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId);
    await rig.clock.advance(2_900);
    for (const nodeId of ['node-b', 'node-c']) await rig.addNode(nodeId);
    const returns = ['node-b', 'node-c'].map((nodeId) => holdDelivery(rig, nodeId));
    ledger.plan({ method: 'reserve', fault: { answerDelayMs: 200 } });
    await rig.clock.advance(200);
    await rig.service.acknowledge(first);
    expect(await rig.state(jobId)).toBe('RUNNING');
    void rig.service.fail(first, FAILURE);
    await rig.clock.advance(500);
    for (const endDelivery of returns) endDelivery();
    await rig.clock.advance(1);
    expect(rig.sent.filter(({ job, attempt }) => job.jobId === jobId && attempt === 2)).toHaveLength(1);
    expect((await rig.service.finish(rig.last(jobId), RESULT)).kind).toBe('accepted');
    const used = ['node-a', 'node-b', 'node-c'].map((nodeId) => rig.used(nodeId));
    expect(await Promise.all(used)).toEqual([0, 0, 0]);
  });

  it('a second attempt that acknowledges first gets its own timeout', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.service.acknowledge(rig.last(job.jobId));
    await rig.clock.advance(50_000);
    await rig.addNode('node-b');
    rig.onDelivery('node-b', async ({ job: { jobId }, attempt, nodeId }) => {
      await rig.service.acknowledge({ jobId, attempt, nodeId });
      return { kind: 'written' };
    });
    await rig.service.fail(rig.last(job.jobId), FAILURE);
    expect(await rig.state(job.jobId)).toBe('RUNNING');
    await rig.clock.advance(20_000);
    expect(await rig.state(job.jobId)).toBe('RUNNING');
    expect(rig.last(job.jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('an attempt that may run is cancelled when the job settles', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.addNode('node-b');
    await rig.service.finish(rig.last(job.jobId), UNTRANSLATED);
    const second = rig.last(job.jobId);
    expect(second.nodeId).toBe('node-b');
    await rig.service.acknowledge(second);
    // The second attempt times out and no node is left: at the deadline the first result is used.
    await rig.clock.advance(90_100);
    expect(await rig.store.get(job.jobId)).toMatchObject({ state: 'RELEASED', result: UNTRANSLATED });
    expect(rig.cancelled.filter(({ nodeId }) => nodeId === 'node-b')).toHaveLength(1);
  });

  it('a repeat gets its job although there is no room for audio', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 20);
    const audio = Buffer.alloc(90_000);
    const same = rig.request({ requestId: 'r', fingerprint: 'f', audio });
    const job = await rig.dispatch(same);
    for (let i = 0; i < 10; i++) await rig.dispatch({ audio });
    expect(rig.refusal(await rig.service.dispatch(rig.request({ audio }))).code).toBe('RATE_LIMITED');
    expect(await rig.service.dispatch(same)).toMatchObject({
      kind: 'dispatched',
      isRepeat: true,
      job: { jobId: job.jobId },
    });
    const other = await rig.service.dispatch({ ...same, fingerprint: 'g' });
    expect(rig.refusal(other).code).toBe('IDEMPOTENCY_CONFLICT');
  });
});

describe('a node that reconnects and names no job', () => {
  const SENT = { socket: 'written', endpoint: 'written', mailbox: 'queued' } as const;

  async function returned(way: keyof typeof SENT, isAcknowledged = true, generation?: number) {
    const rig = createRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: SENT[way], isOutOfBand: way === 'endpoint' }));
    const { jobId } = await rig.dispatch();
    if (isAcknowledged) await rig.service.acknowledge(rig.last(jobId));
    await rig.addNode('node-b');
    rig.service.nodeReturned('node-a', [], generation);
    await rig.clock.advance(1);
    return { rig, jobId };
  }

  it('keeps the jobs in its mailbox until the acknowledgement timeout', async () => {
    const { rig, jobId } = await returned('mailbox', false);
    expect((await rig.store.get(jobId))?.fence).toEqual({ nodeId: 'node-a', attempt: 1 });
    expect([await rig.used('node-a'), await rig.used('node-b')]).toEqual([1, 0]);
    await rig.clock.advance(4_000);
    expect((await rig.store.get(jobId))?.fence).toEqual({ nodeId: 'node-b', attempt: 2 });
  });

  it('loses jobs that were written to its old connection', async () => {
    const { rig, jobId } = await returned('socket');
    expect((await rig.store.get(jobId))?.fence).toEqual({ nodeId: 'node-b', attempt: 2 });
    expect(await rig.used('node-a')).toBe(0);
  });

  for (const way of ['endpoint', 'mailbox'] as const) {
    for (const generation of [undefined, 7]) {
      const where = generation === undefined ? 'here' : 'on another instance';
      it(`keeps slots of jobs sent by ${way} until its next report (${where})`, async () => {
        const { rig, jobId } = await returned(way, true, generation);
        expect((await rig.store.get(jobId))?.fence).toEqual({ nodeId: 'node-b', attempt: 2 });
        expect(await rig.used('node-a')).toBe(1);
        await rig.ledger.reconcile('node-a', { running: 1, runningJobIds: [jobId] });
        expect(await rig.used('node-a')).toBe(1);
        await rig.ledger.reconcile('node-a', { running: 0, runningJobIds: [] });
        expect(await rig.used('node-a')).toBe(0);
      });
    }
  }
});
