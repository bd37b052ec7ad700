/** Reserves that take long: what happened to the job meanwhile decides whether it is sent. */
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/ports/node-link.ts';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { createRig, RESULT, SETTINGS } from '../rigs/rig.ts';

describe('a job whose record is written before its reserve is answered', () => {
  const waiting = async () => {
    const made = createFaultyRig();
    await made.rig.addNode('node-a');
    made.ledger.plan({ method: 'reserve', fault: { answerDelayMs: 50 } });
    const dispatching = made.rig.service.dispatch(made.rig.request());
    await made.rig.clock.advance(10);
    const [job] = (await made.rig.store.list({ limit: 1 })).jobs;
    return { ...made, dispatching, jobId: job?.jobId ?? '' };
  };

  it('is sent as soon as the reserve is answered', async () => {
    const { rig, dispatching } = await waiting();
    await rig.clock.advance(100);
    expect(await dispatching).toMatchObject({ kind: 'dispatched', job: { fence: { nodeId: 'node-a' } } });
  });

  it('is not sent and releases the slot when it was cancelled', async () => {
    const { rig, dispatching, jobId } = await waiting();
    expect((await rig.service.cancel(jobId, 'stop')).kind).toBe('cancelled');
    await rig.clock.advance(100);
    expect(rig.refusal(await dispatching).code).toBe('JOB_CANCELLED');
    expect([rig.sent, rig.cancelled, await rig.used('node-a')]).toEqual([[], [], 0]);
  });

  it('I4 fencing: is not sent by an instance that dropped it', async () => {
    const { rig, dispatching } = await waiting();
    rig.service.dropAll();
    await rig.clock.advance(100);
    expect(rig.refusal(await dispatching).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect([rig.sent, rig.cancelled, await rig.used('node-a')]).toEqual([[], [], 1]);
  });
});

describe('a job that ends before the reply of its delivery', () => {
  const sending = async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    let endDelivery: (delivery: Delivery) => void = () => {};
    rig.onDelivery('node-a', () => new Promise((resolve) => (endDelivery = resolve)));
    const dispatching = rig.service.dispatch(rig.request());
    await rig.clock.advance(1);
    const [job] = (await rig.store.list({ limit: 1 })).jobs;
    const end = (delivery: Delivery) => {
      rig.onDelivery('node-a', () => ({ kind: 'written' }));
      endDelivery(delivery);
    };
    return { rig, dispatching, end, answer: { nodeId: 'node-a', jobId: job?.jobId ?? '', attempt: 1 } };
  };

  it('I2 no leak: frees the slot of a cancelled job with unknown delivery', async () => {
    const { rig, dispatching, end, answer } = await sending();
    await rig.service.cancel(answer.jobId, 'stop');
    end({ kind: 'unknown', reason: 'silence' });
    expect(rig.refusal(await dispatching).code).toBe('JOB_CANCELLED');
    await rig.clock.advance(SETTINGS.abandonedLeaseMs + 100);
    expect((await rig.service.dispatch(rig.request())).kind).toBe('dispatched');
  });

  it('I3 one outcome: uses no attempt number twice after a failure report', async () => {
    const { rig, dispatching, end, answer } = await sending();
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    end({ kind: 'undeliverable', reason: 'no socket' });
    expect((await dispatching).kind).toBe('dispatched');
    await rig.addNode('node-b');
    await rig.service.fail(answer, { code: 'PROCESSING_ERROR', message: 'boom' });
    expect(rig.last(answer.jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect((await rig.service.finish(rig.last(answer.jobId), RESULT)).kind).toBe('accepted');
  });

  it('I1 no oversell: keeps the slot of an acknowledged job', async () => {
    const { rig, dispatching, end, answer } = await sending();
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    end({ kind: 'undeliverable', reason: 'no socket' });
    await dispatching;
    expect(await rig.used('node-a')).toBe(1);
  });
});
