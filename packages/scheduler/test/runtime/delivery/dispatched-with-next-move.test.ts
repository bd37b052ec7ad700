/** On a shared store, DISPATCHED of a node that acknowledges jobs is written with the job's next move, in one write. */
import { describe, expect, it } from 'vitest';
import type { JobStore } from '../../../src/ports/job-store.ts';
import type { JobDrivers } from '../../../src/runtime/takeover/job-drivers.ts';
import { type Faulty, faulty } from '../../support/faulty.ts';
import { holdDelivery } from '../rigs/hold-delivery.ts';
import { createLossyStore, type LossyStore } from '../rigs/lossy-store.ts';
import { createRig, legacyProfile, RESULT, type Rig, SETTINGS } from '../rigs/rig.ts';
import { createInstances } from '../rigs/two-instances.ts';

const DRIVERS: JobDrivers = {
  claim: async () => ({ kind: 'theirs' }),
  placingResult: async () => undefined,
  offerAudio: () => {},
};
const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };
const SAME = { requestId: 'r', fingerprint: 'f' };
const BEGUN = ['CREATED', 'RESERVED'];

function createSharedRig() {
  let lost: LossyStore | undefined;
  let faults: Faulty<JobStore> | undefined;
  const rig = createRig({
    drivers: DRIVERS,
    wrapStore(_, clock) {
      lost = createLossyStore(clock);
      faults = faulty(lost.port, [], clock);
      return faults.port;
    },
  });
  if (lost === undefined || faults === undefined) throw new Error('the rig wraps its store when it is made');
  const { port } = lost;
  const states = async (jobId: string) => (await port.get(jobId))?.timeline.map(({ state }) => state);
  return { rig, store: faults, lost, states, record: (jobId: string) => port.get(jobId) };
}

async function sent() {
  const made = createSharedRig();
  await made.rig.addNode('node-a');
  const { jobId, state } = await made.rig.dispatch();
  expect(state).toBe('DISPATCHED');
  return { ...made, jobId, answer: made.rig.last(jobId) };
}

const published = (rig: Rig, jobId: string) =>
  rig.published.filter((job) => job.jobId === jobId).map(({ state }) => state);

describe('a job sent to a node that acknowledges', () => {
  it('is DISPATCHED here and RESERVED with its intent in the store', async () => {
    const { rig, store, jobId, record } = await sent();
    expect(published(rig, jobId)).toEqual(['DISPATCHED']);
    expect(await record(jobId)).toMatchObject({
      state: 'RESERVED',
      fence: undefined,
      intent: { nodeId: 'node-a', attempt: 1 },
    });
    expect(store.calls('move')).toBe(0);
  });

  it('becomes RUNNING through DISPATCHED in one write', async () => {
    const { rig, store, jobId, answer, states, record } = await sent();
    await rig.clock.advance(10);
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    expect(store.calls('move')).toBe(1);
    expect(await states(jobId)).toEqual([...BEGUN, 'DISPATCHED', 'RUNNING']);
    const job = await record(jobId);
    expect([job?.fence, job?.intent]).toEqual([{ nodeId: 'node-a', attempt: 1 }, undefined]);
    expect((job?.timeline[3]?.at ?? 0) - (job?.timeline[2]?.at ?? 0)).toBe(10);
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    expect(store.calls('move')).toBe(2);
  });

  it('becomes RELEASED in one write when its result is the first report', async () => {
    const { rig, store, jobId, answer, states } = await sent();
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    expect(store.calls('move')).toBe(1);
    expect(await states(jobId)).toEqual([...BEGUN, 'DISPATCHED', 'RUNNING', 'FINISHED', 'RELEASED']);
  });

  it('is retried through DISPATCHED when no acknowledgement arrives', async () => {
    const { rig, jobId, answer, states, record } = await sent();
    await rig.addNode('node-b');
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(await states(jobId)).toEqual([...BEGUN, 'DISPATCHED', 'RETRYING', 'RESERVED']);
    expect(await record(jobId)).toMatchObject({ fence: { attempt: 1 }, intent: { attempt: 2 } });
    // Its successor was dispatched: a late report of the first attempt is fenced.
    expect(await rig.service.acknowledge(answer)).toEqual({ kind: 'ignored', reason: 'fenced' });
    expect((await rig.service.finish(rig.last(jobId), RESULT)).kind).toBe('accepted');
    expect(await record(jobId)).toMatchObject({ state: 'RELEASED', fence: { nodeId: 'node-b', attempt: 2 } });
  });

  it.each([
    ['cancelled', (rig: Rig, jobId: string) => rig.service.cancel(jobId, 'x')],
    ['failed', (rig: Rig, jobId: string) => rig.service.fail(rig.last(jobId), FAILURE)],
  ])('shows DISPATCHED in its timeline when it is %s', async (_, end) => {
    const { rig, jobId, states } = await sent();
    await end(rig, jobId);
    await rig.clock.advance(200_000);
    expect((await states(jobId))?.slice(0, 3)).toEqual([...BEGUN, 'DISPATCHED']);
    expect([await rig.used('node-a'), rig.service.inFlight()]).toEqual([0, 0]);
  });

  it.each(['throw', 'throw_after_effect'] as const)(
    'is acknowledged once when the write fails (%s)',
    async (fault) => {
      const { rig, store, jobId, answer, states } = await sent();
      store.plan({ method: 'move', at: [1], fault });
      const acknowledged = rig.service.acknowledge(answer);
      await rig.clock.advance(500);
      expect((await acknowledged).kind).toBe('accepted');
      expect(await states(jobId)).toEqual([...BEGUN, 'DISPATCHED', 'RUNNING']);
    },
  );

  it('is restored as it was written when the store has lost it', async () => {
    const { rig, lost, jobId, answer, states } = await sent();
    expect(rig.published.at(-1)?.state).toBe('DISPATCHED');
    expect(rig.recordsToReplay().map(({ state }) => state)).toEqual(['RESERVED']);
    lost.empty();
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    expect([await states(jobId), lost.restores()]).toEqual([[...BEGUN, 'DISPATCHED', 'RUNNING'], 1]);
    expect(rig.recordsToReplay().map(({ state }) => state)).toEqual(['RUNNING']);
  });

  it('is cancelled at its node when a cancel was being written first', async () => {
    const { rig, store, states } = createSharedRig();
    await rig.addNode('node-a');
    const endDelivery = holdDelivery(rig, 'node-a');
    const dispatching = rig.service.dispatch(rig.request(SAME));
    await rig.clock.advance(1);
    const [job] = rig.recordsToReplay();
    const jobId = job?.jobId ?? '';
    store.plan({ method: 'move', at: [1], fault: { answerDelayMs: 50 } });
    const cancelled = rig.service.cancel(jobId, 'x');
    await rig.clock.advance(1);
    endDelivery();
    await rig.clock.advance(100);
    await dispatching;
    expect(await cancelled).toEqual({ kind: 'cancelled' });
    expect(await states(jobId)).toEqual([...BEGUN, 'FAILED', 'RELEASED']);
    expect(rig.cancelled.map(({ nodeId }) => nodeId)).toContain('node-a');
    // The lease is marked, so that a heartbeat without the job frees it.
    await rig.ledger.reconcile('node-a', { running: 0, runningJobIds: [] });
    expect(await rig.used('node-a')).toBe(0);
  });

  it('goes on after a takeover when its acknowledgement reaches the successor', async () => {
    const { first, second, addNode, takeOver, record } = createInstances({ drivers: DRIVERS });
    await addNode('node-a');
    const { jobId } = await first.dispatch(SAME);
    const answer = first.last(jobId);
    expect(await record(jobId)).toMatchObject({ state: 'RESERVED', intent: { attempt: 1 } });
    first.service.dropAll();
    await takeOver(jobId);
    expect((await second.service.acknowledge(answer)).kind).toBe('accepted');
    expect((await record(jobId)).timeline.map(({ state }) => state)).toEqual([
      ...BEGUN,
      'DISPATCHED',
      'RUNNING',
    ]);
    expect((await second.service.finish(answer, RESULT)).kind).toBe('accepted');
  });
});

describe('a job sent to a legacy node', () => {
  it('is written as DISPATCHED when its delivery is known', async () => {
    const { rig, store, record } = createSharedRig();
    await rig.addNode('node-a', 1, legacyProfile());
    const { jobId } = await rig.dispatch();
    expect(store.calls('move')).toBe(1);
    expect(await record(jobId)).toMatchObject({ state: 'DISPATCHED', fence: { nodeId: 'node-a' } });
  });
});
