/** Jobs abandoned while a call was under way for them: its answer has no effect here. */
import { describe, expect, it } from 'vitest';
import { sleep } from '../../../src/domain/with-timeout.ts';
import type { Delivery } from '../../../src/ports/node-link.ts';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { createRig, RESULT, type Rig, SETTINGS } from '../rigs/rig.ts';
import { createDriverNotes } from '../rigs/two-instances.ts';

const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };
const SAME = { requestId: 'r', fingerprint: 'f' };

const boundTo = async (rig: Rig) => {
  const job = await rig.store.bound('default', 'r');
  if (job === undefined) throw new Error('not bound');
  return job;
};

describe('a job abandoned during a call', () => {
  it('is not watched although its dispatch was written', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    store.plan({ method: 'move', fault: { answerDelayMs: 50 } });
    const outcome = rig.service.dispatch(rig.request(SAME));
    await rig.clock.advance(10);
    rig.service.dropAll();
    await rig.clock.advance(100);
    // It was dispatched and is driven by another instance: the client gets that answer.
    expect(await outcome).toMatchObject({ kind: 'dispatched', job: { state: 'DISPATCHED' } });
    expect(rig.clock.pending()).toBe(0);
    expect(await rig.state((await boundTo(rig)).jobId)).toBe('DISPATCHED');
  });

  it('is not watched although its delivery succeeded', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    let endDelivery = () => {};
    rig.onDelivery('node-a', async () => {
      await new Promise<void>((resolve) => {
        endDelivery = resolve;
      });
      return { kind: 'written', generation: 5 };
    });
    void rig.service.dispatch(rig.request(SAME));
    await rig.clock.advance(1);
    const { jobId } = await boundTo(rig);
    store.plan({ method: 'move', fault: { answerDelayMs: 50 } });
    const failed = rig.service.fail({ nodeId: 'node-a', jobId, attempt: 1 }, FAILURE);
    await rig.clock.advance(10);
    rig.service.dropAll();
    await rig.clock.advance(100);
    endDelivery();
    await rig.clock.advance(10);
    expect((await failed).kind).toBe('ignored');
    expect(rig.published.map(({ state }) => state)).toEqual(['DISPATCHED']);
    expect(rig.outcomes).toEqual([]);
    expect(rig.clock.pending()).toBe(0);
  });

  it('sends its node no cancel when another instance ended it', async () => {
    const { rig, store } = createFaultyRig();
    const other = createRig({ shares: rig });
    for (const one of [rig, other]) await one.addNode('node-a');
    const { jobId } = await rig.dispatch(SAME);
    store.plan({ method: 'move', fault: { delayMs: 100 } });
    const finished = rig.service.finish(rig.last(jobId), RESULT);
    await rig.clock.advance(10);
    rig.service.dropAll();
    other.service.resume(await boundTo(rig));
    await other.service.cancel(jobId, 'no longer wanted');
    await rig.clock.advance(200);
    expect((await finished).kind).toBe('ignored');
    expect([rig.cancelled, rig.published.at(-1)?.state]).toEqual([[], 'DISPATCHED']);
  });

  for (const delivery of [
    { kind: 'undeliverable', reason: 'no_connection' },
    { kind: 'unknown', reason: 'silence' },
    { kind: 'written' },
  ] satisfies Delivery[]) {
    it(`keeps its slot and sends no cancel when its delivery is ${delivery.kind}`, async () => {
      const rig = createRig();
      await rig.addNode('node-a');
      await rig.addNode('node-b');
      let endDelivery: (delivery: Delivery) => void = () => {};
      for (const nodeId of ['node-a', 'node-b'])
        rig.onDelivery(nodeId, () => new Promise((resolve) => (endDelivery = resolve)));
      const outcome = rig.service.dispatch(rig.request(SAME));
      await rig.clock.advance(1);
      const { intent, jobId } = await boundTo(rig);
      rig.service.dropAll();
      endDelivery(delivery);
      await rig.clock.advance(40);
      expect(rig.refusal(await outcome).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
      expect(await rig.used(intent?.nodeId ?? '')).toBe(1);
      expect([await rig.used('node-a'), await rig.used('node-b')].sort()).toEqual([0, 1]);
      expect(rig.cancelled).toEqual([]);
      expect(rig.clock.pending()).toBe(0);
      // The lease is not marked, so a heartbeat without the job does not free it.
      await rig.ledger.reconcile(intent?.nodeId ?? '', { running: 0, runningJobIds: [] });
      expect(await rig.used(intent?.nodeId ?? '')).toBe(1);
      expect(await rig.state(jobId)).toBe('RESERVED');
    });
  }

  it('is not withdrawn although no node could be sent it', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'undeliverable', reason: 'no_connection' }));
    store.plan({ method: 'move', fault: { answerDelayMs: 50 } });
    const outcome = rig.service.dispatch(rig.request({ ...SAME, waitMs: 5_000 }));
    await rig.clock.advance(10);
    rig.service.dropAll();
    await rig.clock.advance(100);
    expect(rig.refusal(await outcome).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect((await boundTo(rig)).state).toBe('CREATED');
    expect(store.calls('discard')).toBe(0);
  });

  it('reserves no further slot', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    await rig.addNode('node-c');
    // Both are full in the ledger, which the view does not know.
    for (const nodeId of ['node-b', 'node-c']) rig.ledger.reserve(nodeId, 'other:1', 60_000);
    ledger.plan({ method: 'reserve', fault: { answerDelayMs: 50 } });
    const made = ledger.calls('reserve');
    void rig.service.fail(rig.last(jobId), FAILURE);
    await rig.clock.advance(10);
    rig.service.dropAll();
    await rig.clock.advance(500);
    expect(ledger.calls('reserve')).toBe(made + 1);
    expect(rig.service.waiting()).toBe(0);
  });

  it('keeps a reserved slot although its record is gone', async () => {
    const rig = createRig({
      wrapStore: (store, clock) => ({
        ...store,
        async move(...move) {
          if (move[2].intent?.attempt !== 2) return store.move(...move);
          await new Promise<void>((resolve) => clock.after(50, resolve));
          return { kind: 'unknown_job' };
        },
      }),
    });
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    void rig.service.fail(rig.last(jobId), FAILURE);
    await rig.clock.advance(10);
    rig.service.dropAll();
    await rig.clock.advance(100);
    expect(await rig.used('node-b')).toBe(1);
  });

  it('sends its node no cancel when its acknowledgement finds no slot', async () => {
    const rig = createRig({
      wrapLedger: (ledger, clock) => ({
        ...ledger,
        async commit(nodeId, lease, ttlMs, isLate) {
          if (isLate !== true) return ledger.commit(nodeId, lease, ttlMs);
          await sleep(clock, 50);
          return { kind: 'full', used: 1, max: 1 };
        },
      }),
    });
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.clock.advance(SETTINGS.ackTimeoutMs);
    const acknowledged = rig.service.acknowledge(rig.last(jobId));
    await rig.clock.advance(10);
    rig.service.dropAll();
    await rig.clock.advance(100);
    expect(await acknowledged).toEqual({ kind: 'ignored', reason: 'fenced' });
    expect(rig.cancelled).toEqual([]);
  });

  it('is not moved again after one answer says driven_elsewhere', async () => {
    const notes = createDriverNotes();
    let moves = 0;
    let answer = () => {};
    const isAnswered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const rig = createRig({
      wrapStore(store) {
        const seen = notes.seenBy('first', store);
        return {
          ...seen,
          async move(...move) {
            moves += 1;
            if (move[2].state === 'RELEASED') throw new Error('down');
            if (move[2].state === 'RUNNING') await isAnswered;
            return seen.move(...move);
          },
        };
      },
    });
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    const acknowledged = rig.service.acknowledge(rig.last(jobId));
    await rig.clock.advance(1);
    const finished = rig.service.finish(rig.last(jobId), {
      textAsr: 'a',
      textTranslated: 'b',
      ttsAudio: '',
      ttsFormat: '',
    });
    await rig.clock.advance(10);
    notes.assign(jobId, 'other');
    answer();
    expect((await acknowledged).kind).toBe('ignored');
    const made = moves;
    await rig.clock.advance(2_000);
    expect((await finished).kind).toBe('ignored');
    expect(moves).toBe(made);
    expect(rig.counts.get('scheduler_fenced_total{driver}')).toBe(1);
  });
});

describe('a job taken over again by the instance that had abandoned it', () => {
  /** The first in-flight job is still being moved when the second begins; then the store answers the first with driven_elsewhere. */
  it('keeps its audio and its flight when the first one was lost', async () => {
    let isLost = false;
    const rig = createRig({
      wrapStore: (store, clock) => ({
        ...store,
        async move(...move) {
          if (!isLost) return store.move(...move);
          isLost = false;
          await new Promise<void>((resolve) => clock.after(50, resolve));
          return { kind: 'driven_elsewhere' };
        },
      }),
    });
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch(SAME);
    isLost = true;
    void rig.service.acknowledge(rig.last(jobId));
    await rig.clock.advance(10);
    rig.service.dropAll();
    rig.audio.put(jobId, 'acme', Buffer.from([1]));
    rig.service.resume(await boundTo(rig));
    await rig.clock.advance(100);
    expect(rig.service.drives(jobId)).toBe(true);
    expect(rig.audio.size()).toBe(1);
  });

  it('stays in flight when the withdrawal of the first one ends', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.dispatch();
    store.plan({ method: 'discard', fault: { answerDelayMs: 50 } });
    const refused = rig.service.dispatch(rig.request({ ...SAME, waitMs: 100 }));
    await rig.clock.advance(90);
    const job = await boundTo(rig);
    await rig.clock.advance(40);
    rig.service.dropAll();
    rig.service.resume(job);
    await rig.clock.advance(100);
    expect((await refused).kind).toBe('refused');
    expect(rig.service.drives(job.jobId)).toBe(true);
  });
});
