/** A job is refused only when nobody has it: what turns out to have been sent is accepted after all. */
import { describe, expect, it } from 'vitest';
import type { JobStore } from '../../../src/ports/job-store.ts';
import { createFaultyRig } from './faulty-rig.ts';
import { writeDispatched } from './holder.ts';
import { createRig, RESULT, type Rig, SETTINGS } from './rig.ts';

const SAME = { requestId: 'r', fingerprint: 'f' };

/** Whoever holds the node's socket writes that the job left, and its answer is late. */
function answerLate(rig: Rig, nodeId: string): void {
  rig.onDelivery(nodeId, async (assignment) => {
    await writeDispatched(rig.store, rig.clock, assignment);
    return SILENT;
  });
}

const { ackTimeoutMs: ACK_MS, pendingTimeoutMs: PENDING_MS } = SETTINGS;
const SILENT = { kind: 'unknown', reason: 'holder_silent' } as const;

async function boundTo(rig: Rig) {
  const job = await rig.store.bound('default', 'r');
  if (job === undefined) throw new Error('nothing is bound');
  return job;
}

async function sendUnclearly(waitMs = 0) {
  const rig = createRig();
  await rig.addNode('node-a');
  let sends = 0;
  rig.onDelivery('node-a', () => {
    sends += 1;
    return SILENT;
  });
  const outcome = await rig.service.dispatch(rig.request({ ...SAME, waitMs }));
  const { jobId } = await boundTo(rig);
  return { rig, outcome, jobId, answer: { nodeId: 'node-a', jobId, attempt: 1 }, sends: () => sends };
}

describe('a job that was sent, nobody knows whether it arrived, and that nobody else could take', () => {
  it.each([0, 2_000])('is accepted if its holder had sent it, waiting or not (%i ms)', async (waitMs) => {
    const rig = createRig();
    await rig.addNode('node-a');
    answerLate(rig, 'node-a');
    const outcome = await rig.service.dispatch(rig.request({ ...SAME, waitMs }));
    expect(outcome.kind).toBe('dispatched');
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

  it.each([0, 2_000])('is not taken back, and its node is heard (waiting %i ms)', async (waitMs) => {
    const { rig, outcome, jobId, answer } = await sendUnclearly(waitMs);
    expect(outcome).toMatchObject({ kind: 'dispatched', job: { jobId, intent: { nodeId: 'node-a' } } });
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    const { state, result } = await boundTo(rig);
    expect([state, result]).toEqual(['RELEASED', RESULT]);
    expect([rig.cancelled, rig.service.inFlight(), rig.audio.size()]).toEqual([[], 0, 0]);
    await rig.clock.advance(200_000);
    expect([await rig.used('node-a'), rig.clock.pending()]).toEqual([0, 0]);
  });

  it('nor if it waited for a slot before it was sent', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    rig.onDelivery('node-a', () => SILENT);
    const dispatching = rig.service.dispatch(rig.request({ ...SAME, waitMs: 2_000 }));
    await rig.clock.advance(500);
    const load = await rig.ledger.release('node-a', 'other:1');
    if ('used' in load) rig.fleet.setLoad('node-a', load);
    await rig.clock.advance(500);
    expect((await dispatching).kind).toBe('dispatched');
    const { jobId } = await boundTo(rig);
    const answer = { nodeId: 'node-a', jobId, attempt: 1 };
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    expect(await rig.state(jobId)).toBe('RELEASED');
  });

  it('is tried elsewhere if its node says nothing, and that one is told to stop', async () => {
    const { rig, jobId, sends } = await sendUnclearly();
    await rig.addNode('node-b');
    await rig.clock.advance(ACK_MS - 100);
    expect([sends(), rig.sent, rig.cancelled]).toEqual([1, [], []]);
    await rig.clock.advance(200);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(rig.cancelled).toContainEqual({ nodeId: 'node-a', jobId, reason: 'superseded' });
    expect((await rig.service.finish({ nodeId: 'node-a', jobId, attempt: 1 }, RESULT)).kind).toBe('ignored');
    expect((await rig.service.finish(rig.last(jobId), RESULT)).kind).toBe('accepted');
    expect(await rig.state(jobId)).toBe('RELEASED');
  });

  it('fails, and does not keep its client long, if nobody turns up', async () => {
    const { rig, jobId } = await sendUnclearly();
    await rig.clock.advance(ACK_MS + PENDING_MS + 500);
    const job = await rig.store.get(jobId);
    expect([job?.state, job?.failure?.code]).toEqual(['RELEASED', 'NODE_UNAVAILABLE']);
    expect(job?.failure?.message).toContain('node-a may have been sent the job');
    expect([rig.service.inFlight(), rig.audio.size()]).toEqual([0, 0]);
    await rig.clock.advance(200_000);
    expect([await rig.used('node-a'), rig.clock.pending()]).toEqual([0, 0]);
  });

  it('is taken from its node if it is cancelled', async () => {
    const { rig, jobId } = await sendUnclearly();
    await rig.service.cancel(jobId, 'no longer wanted');
    expect(rig.cancelled).toContainEqual({ nodeId: 'node-a', jobId, reason: 'superseded' });
  });

  it('does not wait for a node when another was meant to have it since', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    let sends = 0;
    for (const nodeId of ['node-a', 'node-b'])
      rig.onDelivery(nodeId, () => {
        sends += 1;
        return sends === 1 ? SILENT : { kind: 'undeliverable', reason: 'no socket' };
      });
    expect((await rig.service.dispatch(rig.request(SAME))).kind).toBe('dispatched');
    expect(sends).toBe(2);
    const { jobId } = await boundTo(rig);
    await rig.addNode('node-c');
    await rig.clock.advance(100);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-c', attempt: 2 });
    expect(rig.cancelled).toHaveLength(1);
  });
});

describe('a job that was sent to nobody', () => {
  it('is refused without a trace', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'undeliverable', reason: 'no socket' }));
    expect((await rig.service.dispatch(rig.request(SAME))).kind).toBe('refused');
    expect(await rig.store.bound('default', 'r')).toBeUndefined();
    expect([rig.service.inFlight(), rig.audio.size(), store.calls('move')]).toEqual([0, 0, 0]);
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
