/** A job is refused only when no node has it. */
import { describe, expect, it } from 'vitest';
import type { JobStore } from '../../../src/ports/job-store.ts';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { createRig, type Rig } from '../rigs/rig.ts';

const SAME = { requestId: 'r', fingerprint: 'f' };

async function boundTo(rig: Rig) {
  const job = await rig.store.bound('default', 'r');
  if (job === undefined) throw new Error('nothing is bound');
  return job;
}

describe('a job that was sent to no node', () => {
  it('is refused, and no record, audio or timer stays', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'undeliverable', reason: 'no socket' }));
    expect((await rig.service.dispatch(rig.request(SAME))).kind).toBe('refused');
    expect(await rig.store.bound('default', 'r')).toBeUndefined();
    expect([rig.service.inFlight(), rig.audio.size(), store.calls('move')]).toEqual([0, 0, 0]);
    expect(rig.clock.pending()).toBe(0);
  });

  it('is refused for the same reason when the discard fails', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    store.plan({ method: 'discard', at: [1], fault: 'throw' });
    const refused = rig.refusal(await rig.service.dispatch(rig.request(SAME)));
    expect([refused.code, rig.service.inFlight()]).toEqual(['ALL_CANDIDATES_FULL_OR_FAILED', 0]);
    await rig.clock.advance(2_000);
    expect(await rig.store.bound('default', 'r')).toBeUndefined();
  });

  it('is refused when the endpoint declines, which counts as a failure', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'declined', reason: 'ECONNREFUSED' }));
    expect((await rig.service.dispatch(rig.request(SAME))).kind).toBe('refused');
    expect([rig.outcomes, await rig.used('node-a')]).toEqual([[{ nodeId: 'node-a', outcome: 'failed' }], 0]);
  });

  it('costs no move', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    expect((await rig.service.dispatch(rig.request(SAME))).kind).toBe('refused');
    expect(store.calls('move')).toBe(0);
  });
});

describe('a job that is being withdrawn', () => {
  /** `happens` changes the record right before it would be discarded. */
  function createRacingRig(happens: (store: JobStore, jobId: string) => unknown): Rig {
    return createRig({
      wrapStore: (store) => ({
        ...store,
        // Read at each call, because a test may replace it.
        get: (jobId) => store.get(jobId),
        async discard(jobId) {
          await happens(store, jobId);
          return store.discard(jobId);
        },
      }),
    });
  }

  const FAILED = {
    state: 'FAILED',
    entry: { state: 'FAILED', at: 0, attempt: 0 },
    failure: { code: 'JOB_CANCELLED', message: 'x' },
  } as const;
  /** A cancel was written first. */
  const asEnded = (store: JobStore, jobId: string) =>
    store.move(jobId, { state: 'RESERVED', fenceAttempt: 0 }, FAILED);

  it('ends at its deadline when the store does not answer the read', async () => {
    const rig = createRacingRig(async (store, jobId) => {
      await asEnded(store, jobId);
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

  it('is cancelled and released when the cancel is written first', async () => {
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

  it('is removed and released when it was settled first', async () => {
    const rig = createRacingRig(asEnded);
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

  it('is dropped when another instance took it over during the read', async () => {
    const rig: Rig = createRacingRig(async (store, jobId) => {
      await asEnded(store, jobId);
      const { get } = store;
      store.get = async (id) => {
        rig.service.dropAll();
        return get(id);
      };
    });
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    expect((await rig.service.dispatch(rig.request(SAME))).kind).toBe('refused');
    await rig.clock.advance(200_000);
    expect([rig.service.inFlight(), rig.audio.size(), rig.cancelled]).toEqual([0, 0, []]);
    expect(rig.published).toEqual([]);
  });

  it('stays in flight, with its audio, when it is taken over again meanwhile', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    store.plan({ method: 'discard', fault: { delayMs: 50 } });
    const outcome = rig.service.dispatch(rig.request(SAME));
    await rig.clock.advance(10);
    const job = await boundTo(rig);
    rig.service.dropAll();
    rig.audio.put(job.jobId, 'acme', Buffer.from([1]));
    rig.service.resume(job);
    await rig.clock.advance(100);
    expect(rig.refusal(await outcome).message).toContain('another instance took the job over');
    expect([rig.service.drives(job.jobId), rig.audio.size()]).toEqual([true, 1]);
  });

  it('is left to the instance that drives it now', async () => {
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
