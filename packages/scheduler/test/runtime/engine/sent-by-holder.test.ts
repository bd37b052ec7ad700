/** Assignments that another instance writes to the node, and records: the driver learns of it in the answer, or by being late. */
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/ports/node-link.ts';
import { createFaultyRig } from './faulty-rig.ts';
import { deliverAsHolder, writeDispatched } from './holder.ts';
import { createRig, deployedProfile, RESULT, type Rig } from './rig.ts';

const states = (rig: Rig, jobId: string) =>
  rig.published.filter((job) => job.jobId === jobId).map(({ state }) => state);

/** The holder writes at once; what the driver hears waits for the function returned. */
function holdAnswer(rig: Rig, nodeId: string, answer?: Delivery): () => void {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  rig.onDelivery(nodeId, async (assignment) => {
    const delivery = await deliverAsHolder(rig.store, rig.clock, assignment, 5);
    await held;
    return answer ?? delivery;
  });
  return release;
}

async function beginDispatch(rig: Rig) {
  const outcome = rig.service.dispatch(rig.request({ requestId: 'r', fingerprint: 'f' }));
  await rig.clock.advance(1);
  const jobId = (await rig.store.bound('default', 'r'))?.jobId ?? '';
  return { outcome, jobId, answer: { nodeId: 'node-a', jobId, attempt: 1 } };
}

describe('a job that the holder of its node sends', () => {
  it('is dispatched with the record of the holder, told to listeners, and watched', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', (assignment) => deliverAsHolder(rig.store, rig.clock, assignment, 5));
    const job = await rig.dispatch();
    expect(job).toMatchObject({ state: 'DISPATCHED', fence: { nodeId: 'node-a', attempt: 1 } });
    expect(states(rig, job.jobId)).toEqual(['DISPATCHED']);
    await rig.addNode('node-b');
    // Nobody acknowledges: after the ack timeout the other node is tried.
    await rig.clock.advance(3_100);
    expect(rig.last(job.jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(rig.cancelled).toEqual([{ nodeId: 'node-a', jobId: job.jobId, reason: 'superseded' }]);
  });

  it('takes the lease of a node that never acknowledges for long', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 1, deployedProfile());
    rig.onDelivery('node-a', (assignment) => deliverAsHolder(rig.store, rig.clock, assignment, 5));
    await rig.dispatch();
    await rig.clock.advance(30_000);
    expect(await rig.used('node-a')).toBe(1);
  });

  it('runs though its acknowledgement overtakes the answer of the holder', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const comeBack = holdAnswer(rig, 'node-a');
    const { outcome, jobId, answer } = await beginDispatch(rig);
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    comeBack();
    await rig.clock.advance(10);
    expect(await outcome).toMatchObject({ kind: 'dispatched', job: { jobId, state: 'RUNNING' } });
    expect(await rig.state(jobId)).toBe('RUNNING');
    expect(states(rig, jobId)).toEqual(['DISPATCHED', 'RUNNING']);
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    expect(await rig.used('node-a')).toBe(0);
  });

  it('is boarded once when two answers and the holder race: one lease taken for long, one run to watch', async () => {
    const { rig, store } = createFaultyRig();
    store.plan({ method: 'move', fault: { delayMs: 2 } });
    await rig.addNode('node-a', 1, deployedProfile());
    const comeBack = holdAnswer(rig, 'node-a');
    const { outcome, jobId, answer } = await beginDispatch(rig);
    const acknowledged = [rig.service.acknowledge(answer), rig.service.acknowledge(answer)];
    comeBack();
    await rig.clock.advance(100);
    await Promise.all([outcome, ...acknowledged]);
    expect(states(rig, jobId)).toEqual(['DISPATCHED', 'RUNNING']);
    expect(rig.cancelled).toEqual([]);
    // Silent from here on: the one timer of the run ends it.
    await rig.clock.advance(60_100);
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', failure: { code: 'JOB_TIMEOUT' } });
    expect(rig.service.inFlight()).toBe(0);
  });

  it('supersedes the attempt before, whoever writes that it was sent', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    rig.onDelivery('node-b', (assignment) => deliverAsHolder(rig.store, rig.clock, assignment, 5));
    await rig.clock.advance(3_100);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(rig.cancelled).toEqual([{ nodeId: 'node-a', jobId, reason: 'superseded' }]);
  });

  it('is finished by a result that overtakes the answer of the holder', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const comeBack = holdAnswer(rig, 'node-a');
    const { outcome, jobId, answer } = await beginDispatch(rig);
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    comeBack();
    await rig.clock.advance(10);
    expect((await outcome).kind).toBe('dispatched');
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', result: RESULT });
    expect(rig.cancelled).toEqual([]);
    expect(await rig.used('node-a')).toBe(0);
  });

  it('is watched though nobody could say whether it was written: the store knows', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    for (const nodeId of ['node-a', 'node-b'])
      rig.onDelivery(nodeId, async (assignment) => {
        if (assignment.attempt === 1) await writeDispatched(rig.store, rig.clock, assignment);
        return assignment.attempt === 1 ? { kind: 'unknown', reason: 'no answer' } : { kind: 'written' };
      });
    const job = await rig.dispatch();
    expect(job).toMatchObject({ state: 'DISPATCHED', fence: { attempt: 1 } });
    const [idle] = ['node-a', 'node-b'].filter((nodeId) => nodeId !== job.fence?.nodeId);
    expect(await rig.used(idle ?? '')).toBe(0);
    await rig.clock.advance(3_100);
    expect(rig.last(job.jobId)).toMatchObject({ nodeId: idle, attempt: 2 });
  });

  it('is watched though nobody could say whether it was written and no other node is left', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', async (assignment) => {
      await writeDispatched(rig.store, rig.clock, assignment);
      return { kind: 'unknown', reason: 'no answer' };
    });
    const outcome = await rig.service.dispatch(rig.request({ waitMs: 2_000 }));
    if (outcome.kind !== 'dispatched') throw new Error('was refused');
    await rig.addNode('node-b');
    await rig.clock.advance(3_100);
    expect(rig.last(outcome.job.jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('is cancelled at the node that the holder wrote it to', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const comeBack = holdAnswer(rig, 'node-a');
    const { outcome, jobId } = await beginDispatch(rig);
    expect(await rig.service.cancel(jobId, 'x')).toEqual({ kind: 'cancelled' });
    comeBack();
    await rig.clock.advance(10);
    await outcome;
    expect(rig.cancelled.map(({ nodeId }) => nodeId)).toEqual(['node-a']);
    expect(await rig.state(jobId)).toBe('RELEASED');
  });
});

describe('a node that returns on another instance', () => {
  const dispatchTo = async (rig: Rig, generation: number) => {
    await rig.addNode('node-a');
    rig.onDelivery('node-a', (assignment) => deliverAsHolder(rig.store, rig.clock, assignment, generation));
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    return jobId;
  };

  for (const [generation, written] of [
    [5, 5],
    [5, 6],
  ] as const) {
    it(`does not lose a job written to connection ${written} for not naming it on connection ${generation}`, async () => {
      const rig = createRig();
      const jobId = await dispatchTo(rig, written);
      rig.service.nodeReturned('node-a', [], generation);
      await rig.clock.advance(10);
      expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-a', attempt: 1 });
    });
  }

  it('loses a job written to an earlier connection that it does not name', async () => {
    const rig = createRig();
    const jobId = await dispatchTo(rig, 5);
    rig.service.nodeReturned('node-a', [], 6);
    await rig.clock.advance(10);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('loses a job that this instance wrote to it itself, before', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    rig.service.nodeReturned('node-a', [], 6);
    await rig.clock.advance(10);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('loses whatever it does not name, if nobody says which connection it is', async () => {
    const rig = createRig();
    const jobId = await dispatchTo(rig, 5);
    rig.service.nodeReturned('node-a', []);
    await rig.clock.advance(10);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  for (const isAnswered of [false, true]) {
    const what = isAnswered ? 'and of which the store told already' : 'and of which nothing is known';
    it(`does not lose a job whose delivery is not answered yet ${what}`, async () => {
      const rig = createRig();
      await rig.addNode('node-a');
      const comeBack = holdAnswer(rig, 'node-a');
      const { outcome, jobId, answer } = await beginDispatch(rig);
      await rig.addNode('node-b');
      if (isAnswered) await rig.service.acknowledge(answer);
      rig.service.nodeReturned('node-a', [], 9);
      comeBack();
      await rig.clock.advance(10);
      await outcome;
      expect(rig.sent.filter(({ job }) => job.jobId === jobId)).toHaveLength(1);
      expect(await rig.state(jobId)).toBe(isAnswered ? 'RUNNING' : 'DISPATCHED');
    });
  }

  it('loses a job of an earlier connection though its acknowledgement overtook the answer that says which', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const comeBack = holdAnswer(rig, 'node-a');
    const { outcome, jobId, answer } = await beginDispatch(rig);
    await rig.service.acknowledge(answer);
    comeBack();
    await outcome;
    await rig.addNode('node-b');
    rig.service.nodeReturned('node-a', [], 6);
    await rig.clock.advance(10);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('counts by the connection of the attempt that runs, though another node could not be handed the job', async () => {
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

  it('acknowledges by its name a job whose delivery is not answered yet', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const comeBack = holdAnswer(rig, 'node-a');
    const { outcome, jobId } = await beginDispatch(rig);
    rig.service.nodeReturned('node-a', [jobId], 9);
    await rig.clock.advance(10);
    expect(await rig.state(jobId)).toBe('RUNNING');
    comeBack();
    await rig.clock.advance(10);
    await outcome;
  });

  it('counts by the connection of the attempt that runs, when the attempt before answers after all', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId);
    await rig.addNode('node-b');
    let comeBack = () => {};
    rig.onDelivery(
      'node-b',
      () =>
        new Promise((resolve) => {
          comeBack = () => resolve({ kind: 'written', generation: 99 });
        }),
    );
    await rig.clock.advance(3_100);
    expect((await rig.service.acknowledge(first)).kind).toBe('accepted');
    comeBack();
    await rig.clock.advance(10);
    await rig.addNode('node-c');
    rig.service.nodeReturned('node-a', [], 6);
    await rig.clock.advance(10);
    expect(rig.last(jobId).nodeId).toBe('node-c');
  });
});
