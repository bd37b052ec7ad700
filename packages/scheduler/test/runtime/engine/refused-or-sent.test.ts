/** A job is refused only when nobody has it: what turns out to have been sent is accepted after all. */
import { describe, expect, it } from 'vitest';
import type { JobStore } from '../../../src/ports/job-store.ts';
import { createFaultyRig } from './faulty-rig.ts';
import { writeDispatched } from './holder.ts';
import { createRig, RESULT, type Rig } from './rig.ts';

const SAME = { requestId: 'r', fingerprint: 'f' };

async function boundTo(rig: Rig) {
  const job = await rig.store.bound('default', 'r');
  if (job === undefined) throw new Error('nothing is bound');
  return job;
}

describe('a job that was sent to nobody', () => {
  it('is refused without a trace', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'undeliverable', reason: 'no socket' }));
    expect((await rig.service.dispatch(rig.request(SAME))).kind).toBe('refused');
    expect(await rig.store.bound('default', 'r')).toBeUndefined();
    expect([rig.service.inFlight(), rig.audio.size(), store.calls('move')]).toEqual([0, 0, 0]);
    expect(rig.clock.pending()).toBe(0);
  });

  it('is refused for the same reason if the store cannot be asked to forget it yet', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    store.plan({ method: 'discard', at: [1], fault: 'throw' });
    const refused = rig.refusal(await rig.service.dispatch(rig.request(SAME)));
    expect([refused.code, rig.service.inFlight()]).toEqual(['ALL_CANDIDATES_FULL_OR_FAILED', 0]);
    await rig.clock.advance(2_000);
    expect(await rig.store.bound('default', 'r')).toBeUndefined();
  });

  it('is not taken to have reached a node whose endpoint declines: that one has failed', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'declined', reason: 'ECONNREFUSED' }));
    expect((await rig.service.dispatch(rig.request(SAME))).kind).toBe('refused');
    expect([rig.outcomes, await rig.used('node-a')]).toEqual([[{ nodeId: 'node-a', outcome: 'failed' }], 0]);
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
        // Looked up at each call: a test may replace it.
        get: (jobId) => store.get(jobId),
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

  it('is forgotten here, and released, if it was ended by others', async () => {
    const rig: Rig = createRacingRig((store, jobId) => {
      const entry = { state: 'FAILED', at: rig.clock.now(), attempt: 0 } as const;
      const change = { state: 'FAILED', entry, failure: { code: 'JOB_CANCELLED', message: 'x' } } as const;
      return Promise.resolve(store.move(jobId, { state: 'RESERVED', fenceAttempt: 0 }, change));
    });
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    const outcome = rig.service.dispatch(rig.request(SAME));
    expect(rig.refusal(await outcome).code).toBe('JOB_CANCELLED');
    expect([rig.service.inFlight(), rig.audio.size(), rig.published.at(-1)?.state]).toEqual([
      0,
      0,
      'RELEASED',
    ]);
  });

  it('is nothing of ours any more if others took it over while it was looked up', async () => {
    const rig: Rig = createRacingRig(async (store, jobId) => {
      await asSent(store, jobId, () => rig);
      const { get } = store;
      store.get = async (id) => {
        rig.service.abandonAll();
        return get(id);
      };
    });
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    expect((await rig.service.dispatch(rig.request(SAME))).kind).toBe('refused');
    await rig.clock.advance(200_000);
    expect([rig.service.inFlight(), rig.audio.size(), rig.cancelled]).toEqual([0, 0, []]);
    expect([(await boundTo(rig)).state, rig.published]).toEqual(['DISPATCHED', []]);
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
