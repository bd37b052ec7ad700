/** An instance drops a job that another instance drives: it sends nothing to the node, the ledger or the store. */
import { describe, expect, it } from 'vitest';
import type { JobStore } from '../../../src/ports/job-store.ts';
import { faulty } from '../../support/faulty.ts';
import { holdDelivery } from '../rigs/hold-delivery.ts';
import { createRig, legacyProfile, RESULT, type Rig, SETTINGS } from '../rigs/rig.ts';
import { createDriverNotes, createInstances } from '../rigs/two-instances.ts';

const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };
const FENCED = 'scheduler_fenced_total{driver}';

/** A rig whose store reports another driver for the jobs that the test names. */
function createLosingRig() {
  const notes = createDriverNotes();
  const rig = createRig({ wrapStore: (store) => notes.seenBy('first', store) });
  return { rig, lose: (jobId: string) => notes.assign(jobId, 'other') };
}

const remains = (rig: Rig) => ({
  inFlight: rig.service.inFlight(),
  waiting: rig.service.waiting(),
  audio: rig.audio.size(),
  cancelled: rig.cancelled.length,
  timers: rig.clock.pending(),
});
const NOTHING = { inFlight: 0, waiting: 0, audio: 0, cancelled: 0, timers: 0 };

describe('a job driven elsewhere', () => {
  const MOVES: Record<string, (rig: Rig, jobId: string) => Promise<unknown>> = {
    acknowledgement: (rig, jobId) => rig.service.acknowledge(rig.last(jobId)),
    result: (rig, jobId) => rig.service.finish(rig.last(jobId), RESULT),
    failure: (rig, jobId) => rig.service.fail(rig.last(jobId), FAILURE),
    cancel: (rig, jobId) => rig.service.cancel(jobId, 'x'),
    'missing acknowledgement': (rig) => rig.clock.advance(3_100),
    'lost node': async (rig) => rig.service.nodeLeft('node-a', 0),
  };
  for (const [what, move] of Object.entries(MOVES)) {
    it(`is dropped silently when its ${what} cannot be written`, async () => {
      const { rig, lose } = createLosingRig();
      await rig.addNode('node-a');
      const job = await rig.dispatch();
      const before = await rig.store.get(job.jobId);
      lose(job.jobId);
      await move(rig, job.jobId);
      await rig.clock.advance(40);
      expect(await rig.store.get(job.jobId)).toEqual(before);
      expect(remains(rig)).toEqual(NOTHING);
      expect(rig.counts.get(FENCED)).toBe(1);
      expect([...rig.counts.keys()].filter((name) => name.startsWith('scheduler_jobs_settled'))).toEqual([]);
    });
  }

  it('keeps its slot, which the other driver decides about', async () => {
    const { rig, lose } = createLosingRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.service.acknowledge(rig.last(job.jobId));
    lose(job.jobId);
    await rig.clock.advance(60_100);
    expect(rig.service.inFlight()).toBe(0);
    expect(await rig.used('node-a')).toBe(1);
  });

  it('leaves the slot of its next attempt to expire', async () => {
    const { rig, lose } = createLosingRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.service.fail(rig.last(job.jobId), FAILURE);
    expect(rig.service.waiting()).toBe(1);
    lose(job.jobId);
    await rig.addNode('node-b');
    await rig.clock.advance(300);
    expect(remains(rig)).toEqual(NOTHING);
    expect(rig.sent).toHaveLength(1);
    expect(await rig.used('node-b')).toBe(1);
    await rig.clock.advance(5_000);
    expect(await rig.used('node-b')).toBe(0);
  });

  it('sends no cancel to the node it was just delivered to', async () => {
    const { rig, lose } = createLosingRig();
    await rig.addNode('node-a');
    const endDelivery = holdDelivery(rig, 'node-a');
    const outcome = rig.service.dispatch(rig.request({ requestId: 'r', fingerprint: 'f' }));
    const repeat = rig.service.dispatch(rig.request({ requestId: 'r', fingerprint: 'f' }));
    await rig.clock.advance(1);
    lose((await rig.store.bound('default', 'r'))?.jobId ?? '');
    endDelivery();
    await rig.clock.advance(40);
    expect(rig.refusal(await outcome).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect(rig.refusal(await repeat).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect(remains(rig)).toEqual(NOTHING);
    expect(await rig.state((await rig.store.bound('default', 'r'))?.jobId ?? '')).toBe('RESERVED');
  });

  it('is no longer written when the store answers again', async () => {
    const notes = createDriverNotes();
    const rig = createRig({
      wrapStore: (store, clock) =>
        faulty(notes.seenBy('first', store), { method: 'move', at: [2, 3], fault: 'throw' }, clock).port,
    });
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    const answer = rig.service.finish(rig.last(job.jobId), RESULT);
    await rig.clock.advance(300);
    notes.assign(job.jobId, 'other');
    await rig.clock.advance(300);
    expect((await answer).kind).toBe('ignored');
    expect(remains(rig)).toEqual(NOTHING);
  });

  it('does not blame or cancel a node while its late acknowledgement is committed', async () => {
    const notes = createDriverNotes();
    const rig = createRig({
      wrapStore: (store) => notes.seenBy('first', store),
      wrapLedger: (ledger, clock) =>
        faulty(ledger, { method: 'commit', at: [2], fault: { delayMs: 200 } }, clock).port,
    });
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.clock.advance(SETTINGS.ackTimeoutMs);
    rig.outcomes.length = 0;
    const acknowledged = rig.service.acknowledge(rig.last(job.jobId));
    await rig.clock.advance(50);
    rig.service.dropAll();
    await rig.clock.advance(400);
    expect(await acknowledged).toEqual({ kind: 'ignored', reason: 'fenced' });
    expect(remains(rig)).toMatchObject({ inFlight: 0, cancelled: 0 });
    expect(rig.outcomes).toEqual([]);
  });
});

describe('abandoning all jobs', () => {
  it('drops waiting, sent and running jobs and answers their callers', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b', 1, legacyProfile());
    const running = await rig.dispatch({ need: { ...rig.request().need, preferredNodeId: 'node-a' } });
    const endDelivery = holdDelivery(rig, 'node-b');
    const sending = rig.service.dispatch(rig.request());
    const waiting = rig.service.dispatch(rig.request({ waitMs: 5_000 }));
    await rig.clock.advance(1);
    expect([rig.service.inFlight(), rig.service.waiting()]).toEqual([3, 1]);
    expect(
      rig
        .recordsToReplay()
        .map(({ state }) => state)
        .sort(),
    ).toEqual(['CREATED', 'DISPATCHED', 'RESERVED'].sort());
    expect(rig.service.drives(running.jobId)).toBe(true);
    rig.service.dropAll();
    endDelivery();
    await rig.clock.advance(300);
    expect(rig.refusal(await sending).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect(rig.refusal(await waiting).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect(remains(rig)).toEqual(NOTHING);
    expect(rig.service.drives(running.jobId)).toBe(false);
    expect(rig.recordsToReplay()).toEqual([]);
    expect(await rig.service.drain(1_000)).toBe(0);
    // Both records are unchanged for their new driver.
    expect(await rig.state(running.jobId)).toBe('DISPATCHED');
  });

  it('stops repeated writes to a store that is down', async () => {
    const calls: string[] = [];
    let isDown = false;
    const rig = createRig({
      settings: { maxRetry: 0 },
      wrapStore: (store): JobStore => ({
        ...store,
        async move(jobId, expected, change) {
          calls.push(change.state);
          if (isDown) throw new Error('down');
          const moved = await store.move(jobId, expected, change);
          isDown = change.state === 'FAILED';
          return moved;
        },
      }),
    });
    await rig.addNode('node-a', 2);
    const one = await rig.dispatch();
    const other = await rig.dispatch();
    void rig.service.fail(rig.last(one.jobId), { code: 'PROCESSING_ERROR', message: 'no' });
    await rig.clock.advance(10);
    const answer = rig.service.acknowledge(rig.last(other.jobId));
    await rig.clock.advance(1_000);
    rig.service.dropAll();
    const made = calls.length;
    await rig.clock.advance(10_000);
    expect(calls).toHaveLength(made);
    expect((await answer).kind).toBe('ignored');
    expect(rig.clock.pending()).toBe(0);
    expect(await rig.state(one.jobId)).toBe('FAILED');
  });

  it('stops the discards of requests refused before', async () => {
    let isDown = true;
    let discarded = 0;
    const rig = createRig({
      wrapStore: (store): JobStore => ({
        ...store,
        async discard(jobId) {
          discarded += 1;
          if (isDown) throw new Error('down');
          return store.discard(jobId);
        },
      }),
    });
    await rig.addNode('node-a');
    await rig.dispatch();
    const refused = rig.service.dispatch(rig.request({ waitMs: 100, requestId: 'r', fingerprint: 'f' }));
    await rig.clock.advance(200);
    await refused;
    expect(discarded).toBe(1);
    rig.service.dropAll();
    isDown = false;
    await rig.clock.advance(5_000);
    expect(discarded).toBe(1);
    expect(await rig.store.bound('default', 'r')).toBeDefined();
  });

  it('does not touch a job that was resumed here since', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const endDelivery = holdDelivery(rig, 'node-a');
    const request = rig.request({ requestId: 'r', fingerprint: 'f' });
    const outcome = rig.service.dispatch(request);
    await rig.clock.advance(1);
    rig.service.dropAll();
    const job = await rig.store.bound('default', 'r');
    if (job === undefined) throw new Error('not recorded');
    rig.audio.put(job.jobId, 'acme', Buffer.from([1]));
    rig.service.resume(job);
    endDelivery();
    await rig.clock.advance(10);
    await outcome;
    expect(rig.service.drives(job.jobId)).toBe(true);
    expect(rig.audio.size()).toBe(1);
    expect((await rig.service.finish(rig.last(job.jobId), RESULT)).kind).toBe('accepted');
  });

  it('lets the new driver finish a job the old one still moves', async () => {
    const { first, second, addNode, takeOver, record } = createInstances();
    await addNode('node-a');
    const { jobId } = await first.dispatch();
    await takeOver(jobId);
    expect((await second.service.acknowledge(first.last(jobId))).kind).toBe('accepted');
    expect((await first.service.finish(first.last(jobId), RESULT)).kind).toBe('ignored');
    expect(first.service.drives(jobId)).toBe(false);
    expect((await second.service.finish(first.last(jobId), RESULT)).kind).toBe('accepted');
    expect((await record(jobId)).state).toBe('RELEASED');
    expect(await first.used('node-a')).toBe(0);
  });
});
