/** Writes that take long: what happens meanwhile is neither lost nor counted twice. */
import { describe, expect, it } from 'vitest';
import { createJobEvents } from '../../../src/adapters/memory/job-events.ts';
import { sleep } from '../../../src/domain/with-timeout.ts';
import { createJobReader } from '../../../src/runtime/job-reader.ts';
import { faulty } from '../../support/faulty.ts';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { createRig, legacyProfile, need, RESULT, SETTINGS } from '../rigs/rig.ts';

const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };

describe('slow writes', () => {
  it('a result counts while the acknowledgement is being written', async () => {
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
    async (_, state, report, what) => {
      const { rig, ledger } = createFaultyRig();
      await rig.addNode('node-a');
      const { jobId } = await rig.dispatch();
      await rig.clock.advance(SETTINGS.ackTimeoutMs);
      ledger.plan({ method: 'commit', at: [ledger.calls('commit') + 1], fault: { delayMs: 300 } });
      const acknowledged = rig.service.acknowledge(rig.last(jobId));
      await rig.clock.advance(10);
      void rig.service[report](rig.last(jobId), what as never);
      await rig.clock.advance(1_000);
      expect((await acknowledged).kind).toBe('ignored');
      expect([await rig.state(jobId), await rig.used('node-a')]).toEqual([state, 0]);
    },
  );

  it.each([
    ['result', 'finish', RESULT],
    ['failure', 'fail', FAILURE],
  ] as const)('I2: a %s during a cancel frees the slot', async (_, report, what) => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.service.acknowledge(rig.last(jobId));
    store.plan({ method: 'move', fault: { delayMs: 300 } });
    const cancelling = rig.service.cancel(jobId, 'stop');
    await rig.clock.advance(10);
    const reporting = rig.service[report](rig.last(jobId), what as never);
    await rig.clock.advance(1_000);
    expect([(await cancelling).kind, (await reporting).kind]).toEqual(['cancelled', 'ignored']);
    expect(await rig.used('node-a')).toBe(0);
  });

  it('a failure repeated during its write counts once', async () => {
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

  it('a node that leaves and returns during the write is lost once', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.addNode('node-b');
    // A second loss would have been overtaken by the next attempt.
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: 5 } });
    rig.service.nodeLeft('node-a', 0);
    rig.service.nodeReturned('node-a', []);
    await rig.clock.advance(2_000);
    expect((await rig.store.get(job.jobId))?.failure).toBeUndefined();
    expect(rig.last(job.jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(rig.counts.get('scheduler_retries_total{WS_DISCONNECTED}')).toBe(1);
  });

  it('a node that left before delivery is not excluded later', async () => {
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

  it('the failure of a job whose node left during its send names no node', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => {
      rig.service.nodeLeft('node-a', 0);
      return { kind: 'written' };
    });
    const { jobId } = await rig.dispatch();
    await rig.clock.advance(100_000);
    const failure = (await rig.store.get(jobId))?.failure;
    expect(failure?.message).toMatch(/disconnected|lost/);
    expect(failure?.message).not.toContain('node-a');
  });

  it('a node that reconnects before delivery keeps the job', async () => {
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

  it('a wait that ends during the DISPATCHED write does not refuse', async () => {
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

  it('a wait that ends during the delivery does not end the attempt', async () => {
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

  it('a repeat during the discard of a refused job is refused', async () => {
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

  it('a job can be cancelled while its acknowledgement is written', async () => {
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

  it('a cancel during the admission does not settle the job', async () => {
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
    // The job is over or not known yet; `settled` would be wrong, because it runs.
    expect({ kind, state }).toEqual(
      kind === 'unknown_job' ? { kind, state: 'DISPATCHED' } : { kind: 'cancelled', state: 'RELEASED' },
    );
  });

  it('a node that leaves during the DISPATCHED write is retried', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-old', 1, legacyProfile());
    store.plan({ method: 'move', fault: { answerDelayMs: 20 } });
    const dispatching = rig.service.dispatch(rig.request());
    await rig.clock.advance(10);
    expect(rig.sent).toHaveLength(1);
    await rig.addNode('node-b', 1, legacyProfile());
    rig.fleet.remove('node-old');
    rig.service.nodeLeft('node-old', 0);
    await rig.clock.advance(2_000);
    expect((await dispatching).kind).toBe('dispatched');
    expect(rig.sent.map(({ nodeId }) => nodeId)).toEqual(['node-old', 'node-b']);
  });

  it('a wait for the outcome ends while the record is read', async () => {
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
