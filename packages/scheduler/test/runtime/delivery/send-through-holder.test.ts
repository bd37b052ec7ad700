/** Assignments through another instance, the holder of the node's socket: the driver writes DISPATCHED when the reply arrives. */
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/ports/node-link.ts';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { createRig, legacyProfile, RESULT, type Rig } from '../rigs/rig.ts';

const states = (rig: Rig, jobId: string) =>
  rig.published.filter((job) => job.jobId === jobId).map(({ state }) => state);

const written = (generation: number): Delivery => ({ kind: 'written', generation });

/** The holder hands the job over at once; its reply waits for the function returned. */
function holdReply(rig: Rig, nodeId: string): () => void {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  rig.onDelivery(nodeId, () => held.then(() => written(5)));
  return release;
}

async function beginDispatch(rig: Rig) {
  const outcome = rig.service.dispatch(rig.request({ requestId: 'r', fingerprint: 'f' }));
  await rig.clock.advance(1);
  const jobId = (await rig.store.bound('default', 'r'))?.jobId ?? '';
  return { outcome, jobId, answer: { nodeId: 'node-a', jobId, attempt: 1 } };
}

describe('a job sent through the holder of its node', () => {
  it('is DISPATCHED, published and watched for its acknowledgement', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => written(5));
    const job = await rig.dispatch();
    expect(job).toMatchObject({ state: 'DISPATCHED', fence: { nodeId: 'node-a', attempt: 1 } });
    expect(states(rig, job.jobId)).toEqual(['DISPATCHED']);
    await rig.addNode('node-b');
    // No acknowledgement arrives: after the timeout the other node is tried.
    await rig.clock.advance(3_100);
    expect(rig.last(job.jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(rig.cancelled).toEqual([{ nodeId: 'node-a', jobId: job.jobId, reason: 'superseded' }]);
  });

  it('commits the lease of a node that never acknowledges', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 1, legacyProfile());
    rig.onDelivery('node-a', () => written(5));
    await rig.dispatch();
    await rig.clock.advance(30_000);
    expect(await rig.used('node-a')).toBe(1);
  });

  it('runs although its acknowledgement arrives before the reply of the holder', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const endDelivery = holdReply(rig, 'node-a');
    const { outcome, jobId, answer } = await beginDispatch(rig);
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    endDelivery();
    await rig.clock.advance(10);
    expect(await outcome).toMatchObject({ kind: 'dispatched', job: { jobId, state: 'RUNNING' } });
    expect(await rig.state(jobId)).toBe('RUNNING');
    expect(states(rig, jobId)).toEqual(['DISPATCHED', 'RUNNING']);
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    expect(await rig.used('node-a')).toBe(0);
  });

  it('is marked as sent once when two acknowledgements and the reply race', async () => {
    const { rig, store } = createFaultyRig();
    store.plan({ method: 'move', fault: { delayMs: 2 } });
    await rig.addNode('node-a', 1, legacyProfile());
    const endDelivery = holdReply(rig, 'node-a');
    const { outcome, jobId, answer } = await beginDispatch(rig);
    const acknowledged = [rig.service.acknowledge(answer), rig.service.acknowledge(answer)];
    endDelivery();
    await rig.clock.advance(100);
    await Promise.all([outcome, ...acknowledged]);
    expect(states(rig, jobId)).toEqual(['DISPATCHED', 'RUNNING']);
    expect(rig.cancelled).toEqual([]);
    // The node sends nothing more: the job timeout ends it.
    await rig.clock.advance(60_100);
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', failure: { code: 'JOB_TIMEOUT' } });
    expect(rig.service.inFlight()).toBe(0);
  });

  it('supersedes the attempt before', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    rig.onDelivery('node-b', () => written(5));
    await rig.clock.advance(3_100);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(rig.cancelled).toEqual([{ nodeId: 'node-a', jobId, reason: 'superseded' }]);
  });

  it('is finished by a result that arrives before the reply of the holder', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const endDelivery = holdReply(rig, 'node-a');
    const { outcome, jobId, answer } = await beginDispatch(rig);
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    endDelivery();
    await rig.clock.advance(10);
    expect((await outcome).kind).toBe('dispatched');
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', result: RESULT });
    expect(rig.cancelled).toEqual([]);
    expect(await rig.used('node-a')).toBe(0);
  });

  it('is cancelled at its node when the reply arrives after the cancel', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const endDelivery = holdReply(rig, 'node-a');
    const { outcome, jobId } = await beginDispatch(rig);
    expect(await rig.service.cancel(jobId, 'x')).toEqual({ kind: 'cancelled' });
    endDelivery();
    await rig.clock.advance(10);
    await outcome;
    expect(new Set(rig.cancelled.map(({ nodeId }) => nodeId))).toEqual(new Set(['node-a']));
    expect(await rig.state(jobId)).toBe('RELEASED');
  });
});

describe('a node that reconnects to another instance', () => {
  const dispatchTo = async (rig: Rig, generation: number) => {
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => written(generation));
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    return jobId;
  };

  for (const [generation, sentBy] of [
    [5, 5],
    [5, 6],
  ] as const) {
    it(`keeps a job of connection ${sentBy} that it does not name on connection ${generation}`, async () => {
      const rig = createRig();
      const jobId = await dispatchTo(rig, sentBy);
      rig.service.nodeReturned('node-a', [], generation);
      await rig.clock.advance(10);
      expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-a', attempt: 1 });
    });
  }

  it('loses a job of an earlier connection that it does not name', async () => {
    const rig = createRig();
    const jobId = await dispatchTo(rig, 5);
    rig.service.nodeReturned('node-a', [], 6);
    await rig.clock.advance(10);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('loses a job that this instance itself sent before', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    rig.service.nodeReturned('node-a', [], 6);
    await rig.clock.advance(10);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('loses every job it does not name when its connection is unknown', async () => {
    const rig = createRig();
    const jobId = await dispatchTo(rig, 5);
    rig.service.nodeReturned('node-a', []);
    await rig.clock.advance(10);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  for (const isAnswered of [false, true]) {
    const what = isAnswered ? 'acknowledged' : 'not acknowledged';
    it(`keeps a job whose delivery has no reply yet (${what})`, async () => {
      const rig = createRig();
      await rig.addNode('node-a');
      const endDelivery = holdReply(rig, 'node-a');
      const { outcome, jobId, answer } = await beginDispatch(rig);
      await rig.addNode('node-b');
      if (isAnswered) await rig.service.acknowledge(answer);
      rig.service.nodeReturned('node-a', [], 9);
      endDelivery();
      await rig.clock.advance(10);
      await outcome;
      expect(rig.sent.filter(({ job }) => job.jobId === jobId)).toHaveLength(1);
      expect(await rig.state(jobId)).toBe(isAnswered ? 'RUNNING' : 'DISPATCHED');
    });
  }

  it('loses a job of an earlier connection that was acknowledged before the reply', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const endDelivery = holdReply(rig, 'node-a');
    const { outcome, jobId, answer } = await beginDispatch(rig);
    await rig.service.acknowledge(answer);
    endDelivery();
    await outcome;
    await rig.addNode('node-b');
    rig.service.nodeReturned('node-a', [], 6);
    await rig.clock.advance(10);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('compares the connection of the running attempt after an undeliverable retry', async () => {
    const rig = createRig();
    const jobId = await dispatchTo(rig, 5);
    rig.onDelivery('node-b', () => ({ kind: 'undeliverable', reason: 'no_connection' }));
    await rig.clock.advance(3_100);
    await rig.service.acknowledge({ nodeId: 'node-a', jobId, attempt: 1 });
    expect(await rig.state(jobId)).toBe('RUNNING');
    await rig.addNode('node-c');
    rig.service.nodeReturned('node-a', [], 6);
    await rig.clock.advance(10);
    expect(rig.last(jobId).nodeId).toBe('node-c');
  });

  it('acknowledges a job by naming it before the delivery has a reply', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const endDelivery = holdReply(rig, 'node-a');
    const { outcome, jobId } = await beginDispatch(rig);
    rig.service.nodeReturned('node-a', [jobId], 9);
    await rig.clock.advance(10);
    expect(await rig.state(jobId)).toBe('RUNNING');
    endDelivery();
    await rig.clock.advance(10);
    await outcome;
  });

  it('compares the connection of the running attempt after a late acknowledgement', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId);
    await rig.addNode('node-b');
    let endDelivery = () => {};
    rig.onDelivery(
      'node-b',
      () =>
        new Promise((resolve) => {
          endDelivery = () => resolve({ kind: 'written', generation: 99 });
        }),
    );
    await rig.clock.advance(3_100);
    expect((await rig.service.acknowledge(first)).kind).toBe('accepted');
    endDelivery();
    await rig.clock.advance(10);
    await rig.addNode('node-c');
    rig.service.nodeReturned('node-a', [], 6);
    await rig.clock.advance(10);
    expect(rig.last(jobId).nodeId).toBe('node-c');
  });
});
