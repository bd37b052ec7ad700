/** Nodes that disconnect more than once, or during a delivery, and reconnect. */
import { describe, expect, it } from 'vitest';
import { holdDelivery } from '../rigs/hold-delivery.ts';
import { createRig } from '../rigs/rig.ts';

const LOST = 'scheduler_retries_total{WS_DISCONNECTED}';

describe('a node that reconnects', () => {
  it.each([
    ['twice with a grace', 2_000],
    ['a second time without a grace', 0],
  ])('keeps its later jobs after it disconnected %s', async (_, graceMs) => {
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

  it('keeps a job that was being delivered, if it names it', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const endDelivery = holdDelivery(rig, 'node-a');
    const dispatching = rig.service.dispatch(rig.request({ requestId: 'r', fingerprint: 'f' }));
    await rig.clock.advance(1);
    const jobId = (await rig.store.bound('default', 'r'))?.jobId ?? '';
    rig.service.nodeLeft('node-a', 0);
    rig.service.nodeReturned('node-a', [jobId], 2);
    await rig.clock.advance(1);
    endDelivery();
    expect((await dispatching).kind).toBe('dispatched');
    expect([await rig.state(jobId), rig.counts.get(LOST)]).toEqual(['RUNNING', undefined]);
  });
});

describe('a node that gets a retry after the mailbox of another node', () => {
  it('loses the job it does not name on reconnect, which is retried', async () => {
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
});
