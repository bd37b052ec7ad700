/** Nodes that leave more than once, or in the midst of a send, and come back: each found by breaking the code. */
import { describe, expect, it } from 'vitest';
import { holdDelivery } from './hold-delivery.ts';
import { writeDispatched } from './holder.ts';
import { createRig } from './rig.ts';

const LOST = 'scheduler_retries_total{WS_DISCONNECTED}';

describe('a node that comes back', () => {
  it.each([
    ['twice with time to come back', 2_000],
    ['a second time for good', 0],
  ])('has none of its jobs taken away later because it had left %s', async (_, graceMs) => {
    const rig = createRig();
    await rig.addNode('node-a');
    rig.service.nodeLeft('node-a', 2_000);
    rig.service.nodeLeft('node-a', graceMs);
    rig.service.nodeReturned('node-a', []);
    const { jobId } = await rig.dispatch();
    await rig.service.acknowledge(rig.last(jobId));
    await rig.clock.advance(3_000);
    expect([await rig.state(jobId), rig.counts.get(LOST)]).toEqual(['RUNNING', undefined]);
  });

  it('keeps a job that was on its way when it left, if it names it', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const comeBack = holdDelivery(rig, 'node-a');
    const dispatching = rig.service.dispatch(rig.request({ requestId: 'r', fingerprint: 'f' }));
    await rig.clock.advance(1);
    const jobId = (await rig.store.bound('default', 'r'))?.jobId ?? '';
    rig.service.nodeLeft('node-a', 0);
    rig.service.nodeReturned('node-a', [jobId], 2);
    await rig.clock.advance(1);
    comeBack();
    expect((await dispatching).kind).toBe('dispatched');
    expect([await rig.state(jobId), rig.counts.get(LOST)]).toEqual(['RUNNING', undefined]);
  });
});

describe('a node that is written to after a job lay in the mailbox of another', () => {
  it('has lost what it comes back without: that is tried elsewhere at once', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'queued' }));
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    await rig.service.fail(rig.last(jobId), { code: 'PROCESSING_ERROR', message: 'boom' });
    await rig.addNode('node-c');
    rig.service.nodeReturned('node-b', []);
    await rig.clock.advance(10);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-c', attempt: 3 });
  });

  it('has lost it also if only the record says that it was written to', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'queued' }));
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    // Whoever holds the socket has written to it, and its word of that is lost.
    rig.onDelivery('node-b', async (assignment) => {
      await writeDispatched(rig.store, rig.clock, assignment);
      return { kind: 'unknown', reason: 'no_answer' };
    });
    await rig.service.fail(rig.last(jobId), { code: 'PROCESSING_ERROR', message: 'boom' });
    await rig.clock.advance(10);
    expect((await rig.store.get(jobId))?.fence).toEqual({ nodeId: 'node-b', attempt: 2 });
    await rig.addNode('node-c');
    rig.service.nodeReturned('node-b', []);
    await rig.clock.advance(10);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-c', attempt: 3 });
  });
});
