/** A store that lost acknowledged writes: the driver writes the job again, and no outcome is lost. */
import { describe, expect, it } from 'vitest';
import type { JobStore } from '../../../src/ports/job-store.ts';
import { type Faulty, faulty } from '../../support/faulty.ts';
import { createLossyStore, type LossyStore } from '../rigs/lossy-store.ts';
import { createRig, RESULT, type Rig } from '../rigs/rig.ts';

const AFTER_ALL_MS = 200_000;

function createLossyRig(): { rig: Rig; store: LossyStore; faults: Faulty<JobStore> } {
  let store: LossyStore | undefined;
  let faults: Faulty<JobStore> | undefined;
  const rig = createRig({
    wrapStore(_, clock) {
      store = createLossyStore(clock);
      faults = faulty(store.port, [], clock);
      return faults.port;
    },
  });
  if (store === undefined || faults === undefined) throw new Error('the rig wraps its store when it is made');
  return { rig, store, faults };
}

async function running() {
  const made = createLossyRig();
  const { rig } = made;
  await rig.addNode('node-a');
  await rig.addNode('node-b');
  const { jobId } = await rig.dispatch();
  const answer = rig.last(jobId);
  await rig.service.acknowledge(answer);
  return { ...made, jobId, answer };
}

const used = async (rig: Rig): Promise<number> => (await rig.used('node-a')) + (await rig.used('node-b'));

describe('an emptied store', () => {
  it('gets the job again with the next result', async () => {
    const { rig, store, jobId, answer } = await running();
    store.empty();
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    expect(await store.port.get(jobId)).toMatchObject({ state: 'RELEASED', result: RESULT });
    expect(rig.published.at(-1)?.state).toBe('RELEASED');
    expect([rig.service.inFlight(), await used(rig), store.restores()]).toEqual([0, 0, 1]);
  });

  it('gets the job again with an acknowledgement, a failure or a timeout', async () => {
    const { rig, store } = createLossyRig();
    await rig.addNode('node-a', 3);
    await rig.addNode('node-b', 3);
    const [acked, failed, late] = [await rig.dispatch(), await rig.dispatch(), await rig.dispatch()];
    store.empty();
    const { kind } = await rig.service.acknowledge(rig.last(acked.jobId));
    await rig.service.fail(rig.last(failed.jobId), { code: 'PROCESSING_ERROR', message: 'no' });
    expect([kind, (await store.port.get(acked.jobId))?.state]).toEqual(['accepted', 'RUNNING']);
    await rig.clock.advance(AFTER_ALL_MS);
    for (const { jobId } of [acked, failed, late]) {
      expect((await store.port.get(jobId))?.state).toBe('RELEASED');
      expect(rig.published.findLast((job) => job.jobId === jobId)?.state).toBe('RELEASED');
    }
    expect(rig.service.inFlight()).toBe(0);
  });

  it('gets the job again with the failure at its deadline', async () => {
    const { rig, store, jobId } = await running();
    await rig.clock.advance(59_000);
    // The second attempt, on the other node, runs into the deadline of the job.
    await rig.clock.advance(2_000);
    await rig.service.acknowledge(rig.last(jobId));
    store.empty();
    await rig.clock.advance(AFTER_ALL_MS);
    expect((await store.port.get(jobId))?.failure).toBeDefined();
    expect(rig.published.at(-1)?.state).toBe('RELEASED');
  });

  it('gets the job again after repeated failures', async () => {
    const { rig, store, faults, jobId, answer } = await running();
    store.empty();
    faults.plan({ method: 'restore', at: [1, 2, 3, 4, 5], fault: 'throw' });
    const finishing = rig.service.finish(answer, RESULT);
    await rig.clock.advance(5_000);
    expect((await finishing).kind).toBe('accepted');
    expect((await store.port.get(jobId))?.state).toBe('RELEASED');
  });

  it('does not get a settled job again', async () => {
    const { rig, store, faults, jobId } = await running();
    const made = faults.calls('move');
    faults.plan({ method: 'move', at: [made + 2], fault: 'throw' });
    const finishing = rig.service.cancel(jobId, 'x');
    await rig.clock.advance(100);
    store.empty();
    await rig.clock.advance(1_000);
    expect((await finishing).kind).toBe('cancelled');
    expect([store.restores(), await store.port.get(jobId)]).toEqual([0, undefined]);
  });

  it('does not get a discarded job again', async () => {
    const { rig, store, faults } = createLossyRig();
    await rig.addNode('node-a');
    await rig.dispatch();
    faults.plan({ method: 'discard', fault: { answerDelayMs: 100 } });
    const refused = rig.service.dispatch(rig.request({ jobId: 'job-refused', waitMs: 100 }));
    await rig.clock.advance(150);
    await rig.service.cancel('job-refused', 'no longer wanted');
    await rig.clock.advance(1_000);
    expect((await refused).kind).toBe('refused');
    expect([store.restores(), await store.port.get('job-refused')]).toEqual([0, undefined]);
  });

  it('drops the job when another instance drives it', async () => {
    const { rig, store, faults, jobId, answer } = await running();
    store.empty();
    faults.plan({ method: 'restore', fault: { delayMs: 50 } });
    const finishing = rig.service.finish(answer, RESULT);
    await rig.clock.advance(10);
    store.takenOver();
    await rig.clock.advance(1_000);
    expect((await finishing).kind).toBe('ignored');
    expect([rig.service.drives(jobId), rig.cancelled]).toEqual([false, []]);
  });

  it('ends the job here when three restores are lost', async () => {
    const { rig, store, jobId, answer } = await running();
    store.empty();
    store.keepsNothing();
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('ignored');
    expect([rig.service.drives(jobId), store.restores()]).toEqual([false, 3]);
  });
});

describe('a failover that lost moves', () => {
  it.each([1, 2, 3])('accepts a result although the last %i moves were lost', async (lost) => {
    const { rig, store, jobId, answer } = await running();
    store.lose(lost);
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    const { state, result, timeline } = (await store.port.get(jobId)) ?? {};
    expect({ state, result }).toEqual({ state: 'RELEASED', result: RESULT });
    expect(timeline?.map((entry) => entry.state)).toEqual([
      'CREATED',
      'RESERVED',
      'DISPATCHED',
      'RUNNING',
      'FINISHED',
      'RELEASED',
    ]);
    expect([rig.sent.length, await used(rig)]).toEqual([1, 0]);
  });

  it.each([1, 2, 3, 4])('keeps the attempt with the fence although %i moves were lost', async (lost) => {
    const { rig, store, jobId } = await running();
    await rig.service.fail(rig.last(jobId), { code: 'PROCESSING_ERROR', message: 'no' });
    const second = rig.last(jobId);
    expect(second.attempt).toBe(2);
    store.lose(lost);
    expect((await rig.service.acknowledge(second)).kind).toBe('accepted');
    expect((await rig.service.finish(second, RESULT)).kind).toBe('accepted');
    expect(await store.port.get(jobId)).toMatchObject({ state: 'RELEASED', fence: { attempt: 2 } });
    expect(rig.sent.filter((one) => one.job.jobId === jobId)).toHaveLength(2);
  });

  it('writes the outcome again with the release', async () => {
    const { rig, store, faults, jobId } = await running();
    const made = faults.calls('move');
    faults.plan({ method: 'move', at: [made + 2], fault: 'throw' });
    const finishing = rig.service.cancel(jobId, 'x');
    await rig.clock.advance(100);
    store.lose(1);
    expect((await store.port.get(jobId))?.state).toBe('RUNNING');
    await rig.clock.advance(1_000);
    await finishing;
    expect(await store.port.get(jobId)).toMatchObject({
      state: 'RELEASED',
      failure: { code: 'JOB_CANCELLED' },
    });
  });

  it('keeps a stored record that is newer than the known one', async () => {
    const { rig, store, jobId, answer } = await running();
    const { state, fence } = (await store.port.get(jobId)) ?? {};
    if (state === undefined || fence === undefined) throw new Error('not recorded');
    const failure = { code: 'JOB_CANCELLED', message: 'elsewhere' };
    const entry = { state: 'FAILED', at: rig.clock.now(), ...fence } as const;
    await store.port.move(jobId, { state, fenceAttempt: 1 }, { state: 'FAILED', failure, entry });
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('ignored');
    expect([store.restores(), (await store.port.get(jobId))?.failure]).toEqual([0, failure]);
  });
});

describe('the jobs to replay after a failover', () => {
  it('are all jobs in flight, and settled ones for a while', async () => {
    const { rig, jobId, answer } = await running();
    const other = await rig.dispatch();
    const states = () => Object.fromEntries(rig.recordsToReplay().map((job) => [job.jobId, job.state]));
    expect(states()).toEqual({ [jobId]: 'RUNNING', [other.jobId]: 'DISPATCHED' });
    await rig.service.finish(answer, RESULT);
    await rig.service.acknowledge(rig.last(other.jobId));
    await rig.clock.advance(9_000);
    expect(states()).toEqual({ [jobId]: 'RELEASED', [other.jobId]: 'RUNNING' });
    await rig.clock.advance(2_000);
    expect(states()).toEqual({ [other.jobId]: 'RUNNING' });
  });

  it('exclude a job that another instance took over for its release', async () => {
    const { rig, store, faults, jobId } = await running();
    faults.plan({ method: 'move', at: [faults.calls('move') + 2], fault: { delayMs: 50 } });
    const finishing = rig.service.cancel(jobId, 'x');
    await rig.clock.advance(10);
    expect(rig.recordsToReplay().map(({ state }) => state)).toEqual(['FAILED']);
    store.takenOver();
    await rig.clock.advance(100);
    await finishing;
    expect(rig.recordsToReplay()).toEqual([]);
  });

  it('exclude jobs that other instances drive', async () => {
    const { rig, store, answer } = await running();
    await rig.service.finish(answer, RESULT);
    const lost = await rig.dispatch();
    store.takenOver();
    await rig.service.acknowledge(rig.last(lost.jobId));
    expect(rig.recordsToReplay().map((job) => job.jobId)).toEqual([answer.jobId]);
    rig.service.dropAll();
    expect(rig.recordsToReplay()).toEqual([]);
    await rig.clock.advance(100);
    expect(rig.clock.pending()).toBe(0);
  });
});
