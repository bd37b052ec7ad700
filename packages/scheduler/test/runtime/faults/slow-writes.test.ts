/** Ports that take their time: whatever happens while an answer is on the way is neither lost nor believed twice. */
import { describe, expect, it } from 'vitest';
import { createJobEvents } from '../../../src/adapters/memory/job-events.ts';
import { sleep } from '../../../src/domain/with-timeout.ts';
import { createJobReader } from '../../../src/runtime/job-reader.ts';
import { faulty } from '../../support/faulty.ts';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { createRig, deployedProfile, need, RESULT, SETTINGS } from '../rigs/rig.ts';

const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };

describe('slow ports', () => {
  it('accepts a result that comes while the acknowledgement is being written', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    store.plan({ method: 'move', fault: { delayMs: 2 } });
    const answer = rig.last(job.jobId);
    const acknowledged = rig.service.acknowledge(answer);
    await rig.clock.advance(1);
    const finished = rig.service.finish(answer, RESULT);
    await rig.clock.advance(100);
    expect([(await acknowledged).kind, (await finished).kind]).toEqual(['accepted', 'accepted']);
    expect(await rig.store.get(job.jobId)).toMatchObject({ state: 'RELEASED', result: RESULT });
  });

  it('a slow late commit does not acknowledge the next attempt', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const job = await rig.dispatch();
    const first = rig.last(job.jobId);
    rig.onDelivery(first.nodeId === 'node-a' ? 'node-b' : 'node-a', async () => {
      await sleep(rig.clock, 100);
      return { kind: 'written' };
    });
    await rig.clock.advance(SETTINGS.ackTimeoutMs);
    ledger.plan({ method: 'commit', at: [ledger.calls('commit') + 1], fault: { delayMs: 400 } });
    // Its commit answers after the second attempt was dispatched.
    const acknowledged = rig.service.acknowledge(first);
    await rig.clock.advance(500);
    expect((await acknowledged).kind).toBe('ignored');
    const record = await rig.store.get(job.jobId);
    expect([record?.state, record?.fence?.attempt]).toEqual(['DISPATCHED', 2]);
  });

  it.each([
    ['a result', 'RELEASED', 'finish', RESULT],
    ['a failure', 'RETRYING', 'fail', FAILURE],
  ] as const)(
    'accepts %s while the late acknowledgement waits for its commit',
    async (_, state, say, what) => {
      const { rig, ledger } = createFaultyRig();
      await rig.addNode('node-a');
      const { jobId } = await rig.dispatch();
      await rig.clock.advance(SETTINGS.ackTimeoutMs);
      ledger.plan({ method: 'commit', at: [ledger.calls('commit') + 1], fault: { delayMs: 300 } });
      const acknowledged = rig.service.acknowledge(rig.last(jobId));
      await rig.clock.advance(10);
      void rig.service[say](rig.last(jobId), what as never);
      await rig.clock.advance(1_000);
      expect((await acknowledged).kind).toBe('ignored');
      expect([await rig.state(jobId), await rig.used('node-a')]).toEqual([state, 0]);
    },
  );

  it.each([
    ['result', 'finish', RESULT],
    ['failure', 'fail', FAILURE],
  ] as const)(
    'I2: frees the slot with a %s that comes while the job is being cancelled',
    async (_, say, what) => {
      const { rig, store } = createFaultyRig();
      await rig.addNode('node-a');
      const { jobId } = await rig.dispatch();
      await rig.service.acknowledge(rig.last(jobId));
      store.plan({ method: 'move', fault: { delayMs: 300 } });
      const cancelling = rig.service.cancel(jobId, 'stop');
      await rig.clock.advance(10);
      const saying = rig.service[say](rig.last(jobId), what as never);
      await rig.clock.advance(1_000);
      expect([(await cancelling).kind, (await saying).kind]).toEqual(['cancelled', 'ignored']);
      expect(await rig.used('node-a')).toBe(0);
    },
  );

  it('hears a failure once though it is told again while it is being written', async () => {
    const { rig, store } = createFaultyRig({ retryBudget: { percent: 20, burst: 1 } });
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.addNode('node-b');
    store.plan({ method: 'move', fault: { delayMs: 5 } });
    const answer = rig.last(job.jobId);
    void rig.service.fail(answer, FAILURE);
    void rig.service.fail(answer, FAILURE);
    await rig.clock.advance(200);
    expect(rig.last(job.jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    store.heal();
    await rig.service.acknowledge(rig.last(job.jobId));
    await rig.clock.advance(2_000);
    expect(await rig.state(job.jobId)).toBe('RUNNING');
  });

  it('counts a node as lost once though it leaves and comes back while that is being written', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.addNode('node-b');
    // Only that, or what it would come to a second time was overtaken by the next attempt.
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: 5 } });
    rig.service.nodeLeft('node-a', 0);
    rig.service.nodeReturned('node-a', []);
    await rig.clock.advance(2_000);
    expect((await rig.store.get(job.jobId))?.failure).toBeUndefined();
    expect(rig.last(job.jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(rig.counts.get('scheduler_retries_total{WS_DISCONNECTED}')).toBe(1);
  });

  it('holds a node that left before it could be handed the job against no other, nor against itself later', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    rig.onDelivery('node-a', () => {
      rig.service.nodeLeft('node-a', 0);
      return { kind: 'undeliverable', reason: 'no socket' };
    });
    const { jobId } = await rig.dispatch({ need: need({ preferredNodeId: 'node-a' }) });
    expect([rig.last(jobId).nodeId, await rig.state(jobId)]).toEqual(['node-b', 'DISPATCHED']);
    rig.onDelivery('node-a', () => ({ kind: 'written' }));
    await rig.clock.advance(1_500);
    await rig.service.fail(rig.last(jobId), { code: 'PROCESSING_ERROR', message: 'boom' });
    expect([rig.last(jobId).nodeId, await rig.state(jobId)]).toEqual(['node-a', 'DISPATCHED']);
  });

  it('leaves the job with a node that left before it could be handed it, came back and was handed it then', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => {
      rig.service.nodeLeft('node-a', 0);
      return { kind: 'undeliverable', reason: 'no socket' };
    });
    const outcome = rig.service.dispatch(rig.request({ waitMs: 8_000 }));
    await rig.clock.advance(100);
    rig.onDelivery('node-a', () => ({ kind: 'written' }));
    rig.service.nodeReturned('node-a', [], 2);
    await rig.clock.advance(2_000);
    expect(await outcome).toMatchObject({ kind: 'dispatched', job: { state: 'DISPATCHED' } });
    expect(rig.counts.get('scheduler_retries_total{WS_DISCONNECTED}')).toBeUndefined();
  });

  it('does not refuse a waiter whose limit passes while its dispatch is being written', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const busy = await rig.dispatch();
    const request = rig.request({ waitMs: 1_000, requestId: 'r', fingerprint: 'f' });
    const waiting = rig.service.dispatch(request);
    await rig.clock.advance(900);
    store.plan({ method: 'move', fault: { answerDelayMs: 45 } });
    void rig.service.finish(rig.last(busy.jobId), RESULT);
    await rig.clock.advance(300);
    store.heal();
    expect((await waiting).kind).toBe('dispatched');
    const jobId = (await rig.store.bound('default', 'r'))?.jobId ?? '';
    expect((await rig.service.finish(rig.last(jobId), RESULT)).kind).toBe('accepted');
    expect(await rig.state(jobId)).toBe('RELEASED');
  });

  it('does not end the attempt just sent when the limit of its wait passes meanwhile', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.service.fail(rig.last(job.jobId), FAILURE);
    await rig.clock.advance(9_900);
    store.plan({ method: 'move', fault: { answerDelayMs: 70 } });
    await rig.addNode('node-b');
    await rig.clock.advance(400);
    store.heal();
    expect(rig.last(job.jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    await rig.service.acknowledge(rig.last(job.jobId));
    await rig.clock.advance(3_000);
    expect(await rig.state(job.jobId)).toBe('RUNNING');
    expect(await rig.used('node-b')).toBe(1);
  });

  it('refuses a repeat that comes while the refused job is being discarded', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const busy = await rig.dispatch();
    await rig.service.acknowledge(rig.last(busy.jobId));
    const same = rig.request({ waitMs: 1_000, requestId: 'r', fingerprint: 'f' });
    const first = rig.service.dispatch(same);
    await rig.clock.advance(10);
    store.plan({ method: 'discard', fault: { delayMs: 50 } });
    await rig.clock.advance(1_030);
    const again = rig.service.dispatch({ ...same, waitMs: 0 });
    await rig.clock.advance(100);
    expect([(await first).kind, (await again).kind]).toEqual(['refused', 'refused']);
    expect(await rig.store.bound('default', 'r')).toBeUndefined();
  });

  it('cancels a job while its acknowledgement is being written', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    store.plan({ method: 'move', fault: { delayMs: 2 } });
    void rig.service.acknowledge(rig.last(job.jobId));
    await rig.clock.advance(1);
    const cancelling = rig.service.cancel(job.jobId, 'x');
    await rig.clock.advance(50);
    expect(await cancelling).toEqual({ kind: 'cancelled' });
    expect(await rig.state(job.jobId)).toBe('RELEASED');
  });

  it('does not call a job over that is still being admitted and then goes on', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    store.plan({ method: 'admit', fault: { answerDelayMs: 20 } });
    const dispatching = rig.service.dispatch(rig.request({ requestId: 'r', fingerprint: 'f' }));
    await rig.clock.advance(10);
    const jobId = (await rig.store.bound('default', 'r'))?.jobId ?? '';
    const cancelling = rig.service.cancel(jobId, 'x');
    await rig.clock.advance(50);
    await dispatching;
    const { kind } = await cancelling;
    const state = await rig.state(jobId);
    // Over, or not known yet: either is true. `settled` of a job that runs is not.
    expect({ kind, state }).toEqual(
      kind === 'unknown_job' ? { kind, state: 'DISPATCHED' } : { kind: 'cancelled', state: 'RELEASED' },
    );
  });

  it('retries at once the job of a node that leaves while the dispatch is being written', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-old', 1, deployedProfile());
    store.plan({ method: 'move', fault: { answerDelayMs: 20 } });
    const dispatching = rig.service.dispatch(rig.request());
    await rig.clock.advance(10);
    expect(rig.sent).toHaveLength(1);
    await rig.addNode('node-b', 1, deployedProfile());
    rig.fleet.remove('node-old');
    rig.service.nodeLeft('node-old', 0);
    await rig.clock.advance(2_000);
    expect((await dispatching).kind).toBe('dispatched');
    expect(rig.sent.map(({ nodeId }) => nodeId)).toEqual(['node-old', 'node-b']);
  });

  it('tells whoever waits for the outcome at once when the job ends while its record is being read', async () => {
    const rig = createRig();
    const events = createJobEvents({ maxListeners: 10 });
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    const slow = faulty(rig.store, { method: 'get', at: [1], fault: { answerDelayMs: 20 } }, rig.clock);
    const reader = createJobReader({ clock: rig.clock, store: slow.port, events });
    const settled: unknown[] = [];
    void reader.settled(job.jobId, 30_000).then((record) => settled.push(record?.state));
    await rig.clock.advance(10);
    await rig.service.finish(rig.last(job.jobId), RESULT);
    const record = await rig.store.get(job.jobId);
    if (record !== undefined) events.publish(record);
    await rig.clock.advance(1_000);
    expect(settled).toEqual(['RELEASED']);
  });
});
