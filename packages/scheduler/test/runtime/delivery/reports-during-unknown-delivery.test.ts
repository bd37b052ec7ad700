/** I3 one outcome: reports that arrive while a delivery of unknown end is followed by another try. */
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/ports/node-link.ts';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { createRig, need, RESULT, type Rig, SETTINGS } from '../rigs/rig.ts';
import { createInstances } from '../rigs/two-instances.ts';

const SAME = { requestId: 'r', fingerprint: 'f' };
const SILENT = { kind: 'unknown', reason: 'holder_silent' } as const;
const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };
const ASKING_MS = 100;

async function boundTo(rig: Rig) {
  const job = await rig.store.bound('default', 'r');
  if (job === undefined) throw new Error('nothing is bound');
  return job;
}

describe('while a slot on another node is being reserved', () => {
  it('the node that was sent the job may acknowledge it', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    await rig.ledger.reserve('node-b', 'other:1', 60_000);
    rig.onDelivery('node-a', () => SILENT);
    ledger.plan({ method: 'reserve', at: [2], fault: { delayMs: ASKING_MS } });
    const preferring = { ...SAME, need: need({ preferredNodeId: 'node-a' }) };
    const dispatching = rig.service.dispatch(rig.request(preferring));
    await rig.clock.advance(ASKING_MS / 2);
    const answer = { nodeId: 'node-a', jobId: (await boundTo(rig)).jobId, attempt: 1 };
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    await rig.clock.advance(ASKING_MS);
    expect(await dispatching).toMatchObject({ kind: 'dispatched', job: { state: 'RUNNING' } });
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
  });
});

describe('while the delivery of a retry ends unknown', () => {
  it('a result of the attempt before cancels the retry', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch(SAME);
    await rig.addNode('node-b');
    const held: ((delivery: Delivery) => void)[] = [];
    rig.onDelivery('node-b', () => new Promise((resolve) => held.push(resolve)));
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    expect((await rig.service.finish({ nodeId: 'node-a', jobId, attempt: 1 }, RESULT)).kind).toBe('accepted');
    for (const end of held) end(SILENT);
    await rig.clock.advance(100);
    expect(rig.cancelled).toEqual([{ nodeId: 'node-b', jobId, reason: 'superseded' }]);
  });
});

describe('while a retry turns out to be undeliverable', () => {
  it('a late acknowledgement and failure still cancel the next unknown delivery', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch(SAME);
    await rig.addNode('node-b');
    const held: ((delivery: Delivery) => void)[] = [];
    rig.onDelivery('node-b', () => new Promise((resolve) => held.push(resolve)));
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    const answer = { nodeId: 'node-a', jobId, attempt: 1 };
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    for (const end of held) end({ kind: 'undeliverable', reason: 'no socket' });
    rig.fleet.remove('node-b');
    await rig.addNode('node-c');
    rig.onDelivery('node-c', () => SILENT);
    await rig.clock.advance(100);
    await rig.service.fail(answer, FAILURE);
    await rig.clock.advance(100);
    expect(rig.cancelled.map(({ nodeId }) => nodeId)).toEqual(['node-b', 'node-c']);
  });
});

describe('a node reported undeliverable that acknowledges', () => {
  it.each([0, 2_000])('has the job, which is not withdrawn (waiting %i ms)', async (waitMs) => {
    const { rig, store, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'undeliverable', reason: 'no socket' }));
    ledger.plan({ method: 'release', fault: { delayMs: ASKING_MS } });
    store.plan({ method: 'discard', fault: { delayMs: ASKING_MS } });
    const dispatching = rig.service.dispatch(rig.request({ ...SAME, waitMs }));
    await rig.clock.advance(ASKING_MS / 2);
    const answer = { nodeId: 'node-a', jobId: (await boundTo(rig)).jobId, attempt: 1 };
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    await rig.clock.advance(ASKING_MS);
    ledger.heal();
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    expect((await dispatching).kind).toBe('dispatched');
  });
});

describe('a job whose intent was set back to its first node', () => {
  it('stays with that node after a takeover', async () => {
    const { first, second, addNode, takeOver, record } = createInstances();
    const sends: string[] = [];
    for (const nodeId of ['node-a', 'node-b']) {
      await addNode(nodeId);
      first.onDelivery(nodeId, () =>
        sends.push(nodeId) === 1 ? SILENT : { kind: 'undeliverable', reason: 'no socket' },
      );
    }
    const { jobId } = await first.dispatch(SAME);
    const [nodeId = ''] = sends;
    expect([sends.length, (await record(jobId)).intent]).toEqual([2, { nodeId, attempt: 1 }]);
    first.service.dropAll();
    await takeOver(jobId);
    await first.clock.advance(100);
    const answer = { nodeId, jobId, attempt: 1 };
    expect((await second.service.acknowledge(answer)).kind).toBe('accepted');
    expect((await second.service.finish(answer, RESULT)).kind).toBe('accepted');
    expect(second.cancelled.filter((one) => one.nodeId === nodeId)).toEqual([]);
  });

  it('has the last node that may have it as intent', async () => {
    const rig = createRig();
    const sends: string[] = [];
    for (const nodeId of ['node-a', 'node-b', 'node-c']) {
      await rig.addNode(nodeId);
      rig.onDelivery(nodeId, () =>
        sends.push(nodeId) < 3 ? SILENT : { kind: 'undeliverable', reason: 'no socket' },
      );
    }
    const { jobId, intent } = await rig.dispatch(SAME);
    const [first = '', nodeId = ''] = sends;
    expect(intent).toEqual({ nodeId, attempt: 2 });
    expect((await rig.service.finish({ nodeId: first, jobId, attempt: 1 }, RESULT)).kind).toBe('ignored');
    expect((await rig.service.finish({ nodeId, jobId, attempt: 2 }, RESULT)).kind).toBe('accepted');
    expect(rig.cancelled).toEqual([{ nodeId: first, jobId, reason: 'superseded' }]);
  });
});
