/** A job is refused only when nobody has it: what turns out to have been sent is accepted after all. */
import { describe, expect, it } from 'vitest';
import type { JobStore } from '../../../src/ports/job-store.ts';
import { createFaultyRig } from './faulty-rig.ts';
import { writeDispatched } from './holder.ts';
import { createRig, RESULT, type Rig } from './rig.ts';

const SAME = { requestId: 'r', fingerprint: 'f' };

/** Whoever holds the node's socket writes that the job left, and its answer is late. */
function answerLate(rig: Rig, nodeId: string): void {
  rig.onDelivery(nodeId, async (assignment) => {
    await writeDispatched(rig.store, rig.clock, assignment);
    return { kind: 'unknown', reason: 'holder_silent' };
  });
}

async function boundTo(rig: Rig) {
  const job = await rig.store.bound('default', 'r');
  if (job === undefined) throw new Error('nothing is bound');
  return job;
}

describe('a job that nobody else could take', () => {
  it.each([0, 2_000])('is accepted if its holder had sent it, waiting or not (%i ms)', async (waitMs) => {
    const rig = createRig();
    await rig.addNode('node-a');
    answerLate(rig, 'node-a');
    const outcome = await rig.service.dispatch(rig.request({ ...SAME, waitMs }));
    expect(outcome).toMatchObject({ kind: 'dispatched', job: { state: 'DISPATCHED' } });
    const { jobId } = await boundTo(rig);
    expect(rig.service.drives(jobId)).toBe(true);
    const answer = { nodeId: 'node-a', jobId, attempt: 1 };
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    expect(await rig.state(jobId)).toBe('RELEASED');
    expect(await rig.used('node-a')).toBe(0);
  });

  it('ends like any other if the node it was sent to never says a word', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    answerLate(rig, 'node-a');
    await rig.service.dispatch(rig.request(SAME));
    const { jobId } = await boundTo(rig);
    await rig.clock.advance(200_000);
    expect([await rig.state(jobId), rig.service.inFlight(), await rig.used('node-a')]).toEqual([
      'RELEASED',
      0,
      0,
    ]);
  });

  it('is refused without a trace if it never arrived, and then nobody can write any more that it did', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'unknown', reason: 'holder_silent' }));
    expect((await rig.service.dispatch(rig.request(SAME))).kind).toBe('refused');
    expect(await rig.store.bound('default', 'r')).toBeUndefined();
    expect([rig.service.inFlight(), rig.audio.size(), store.calls('move')]).toEqual([0, 0, 1]);
  });

  it('costs no move more if nothing was sent', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    expect((await rig.service.dispatch(rig.request(SAME))).kind).toBe('refused');
    expect(store.calls('move')).toBe(0);
  });
});

describe('a job that is being taken back', () => {
  /** Something happens to the record in the moment before it would be discarded. */
  function createRacingRig(
    happens: (store: JobStore, jobId: string, rig: () => Rig) => Promise<unknown>,
  ): Rig {
    const rig = createRig({
      wrapStore: (store) => ({
        ...store,
        async discard(jobId) {
          await happens(store, jobId, () => rig);
          return store.discard(jobId);
        },
      }),
    });
    return rig;
  }

  const asSent = async (store: JobStore, jobId: string, rig: () => Rig) => {
    const job = await store.get(jobId);
    if (job === undefined) throw new Error('not recorded');
    return writeDispatched(store, rig().clock, { job, nodeId: 'node-a', attempt: 1, expiresAt: 0 });
  };

  it('is kept, answered as dispatched and driven to its end if it was sent meanwhile', async () => {
    const rig = createRacingRig(asSent);
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    const outcome = await rig.service.dispatch(rig.request(SAME));
    expect(outcome).toMatchObject({ kind: 'dispatched', job: { fence: { nodeId: 'node-a', attempt: 1 } } });
    const { jobId } = await boundTo(rig);
    expect([rig.service.drives(jobId), rig.audio.get(jobId)]).toEqual([true, expect.anything()]);
    expect((await rig.service.finish({ nodeId: 'node-a', jobId, attempt: 1 }, RESULT)).kind).toBe('accepted');
    expect([await rig.state(jobId), rig.audio.size()]).toEqual(['RELEASED', 0]);
  });

  it('ends at its deadline though the store does not say how it stands', async () => {
    const rig: Rig = createRacingRig(async (store, jobId) => {
      await asSent(store, jobId, () => rig);
      store.get = () => Promise.reject(new Error('down'));
    });
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    const outcome = await rig.service.dispatch(rig.request(SAME));
    expect(outcome.kind).toBe('dispatched');
    await rig.clock.advance(200_000);
    expect([rig.service.inFlight(), rig.audio.size(), rig.clock.pending()]).toEqual([0, 0, 0]);
    expect(rig.published.at(-1)?.state).toBe('RELEASED');
  });

  it('is cancelled, and released, if that was quicker', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.dispatch();
    const outcome = rig.service.dispatch(rig.request({ ...SAME, waitMs: 100 }));
    await rig.clock.advance(90);
    const { jobId } = await boundTo(rig);
    store.plan({ method: 'move', fault: { delayMs: 30 } }, { method: 'discard', fault: { delayMs: 50 } });
    void rig.service.cancel(jobId, 'no longer wanted');
    await rig.clock.advance(500);
    expect(rig.refusal(await outcome).code).toBe('JOB_CANCELLED');
    expect(await rig.state(jobId)).toBe('RELEASED');
    expect(rig.service.inFlight()).toBe(1);
  });

  it('is not touched, nor is its audio, when it is in flight again before that is done', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    store.plan({ method: 'discard', fault: { delayMs: 50 } });
    const outcome = rig.service.dispatch(rig.request(SAME));
    await rig.clock.advance(10);
    const job = await boundTo(rig);
    rig.service.abandonAll();
    rig.audio.put(job.jobId, Buffer.from([1]));
    rig.service.adopt(job);
    await rig.clock.advance(100);
    expect(rig.refusal(await outcome).message).toContain('another instance took the job over');
    expect([rig.service.drives(job.jobId), rig.audio.size()]).toEqual([true, 1]);
  });

  it('is left to whoever drives it by now', async () => {
    const rig = createRig({ wrapStore: (store) => ({ ...store, discard: async () => 'driven_elsewhere' }) });
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    const outcome = rig.refusal(await rig.service.dispatch(rig.request(SAME)));
    expect(outcome.code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect(rig.counts.get('scheduler_fenced_total{driver}')).toBe(1);
    expect([rig.service.inFlight(), rig.audio.size(), (await boundTo(rig)).state]).toEqual([
      0,
      0,
      'RESERVED',
    ]);
  });
});
