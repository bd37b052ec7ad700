/** Writes that fail, before or after their effect, and records that the store lost: jobs go on or end, and nothing remains. */
import { describe, expect, it } from 'vitest';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { createRig, legacyProfile, RESULT, type Rig } from '../rigs/rig.ts';

const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };
const UNTRANSLATED = { ...RESULT, textTranslated: '' };
/** Longer than any job, lease and grace together. */
const LONG_MS = 600_000;

const remains = async (rig: Rig) => ({
  inFlight: rig.service.inFlight(),
  audio: rig.audio.size(),
  used: await rig.used('node-a'),
});
const NOTHING = { inFlight: 0, audio: 0, used: 0 };

describe('failed writes', () => {
  it('a result whose write failed after its effect ends the job', async () => {
    const { rig, strikeMove } = createFaultyRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.service.acknowledge(rig.last(job.jobId));
    strikeMove('throw_after_effect');
    const first = rig.service.finish(rig.last(job.jobId), RESULT);
    const drained = rig.service.drain(LONG_MS);
    await rig.clock.advance(5_000);
    const again = rig.service.finish(rig.last(job.jobId), RESULT);
    await rig.clock.advance(5_000);
    expect(await rig.state(job.jobId)).toBe('RELEASED');
    expect(await remains(rig)).toEqual(NOTHING);
    expect([(await first).kind, (await again).kind]).toEqual(['accepted', 'ignored']);
    expect(await drained).toBe(0);
  });

  it('one of two equal results is accepted when both writes fail', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.service.acknowledge(rig.last(job.jobId));
    const made = store.calls('move');
    store.plan(
      { method: 'move', at: [made + 1], fault: 'throw_after_effect' },
      { method: 'move', at: [made + 2], fault: 'throw' },
    );
    const answers = [1, 2].map(() => rig.service.finish(rig.last(job.jobId), RESULT));
    await rig.clock.advance(5_000);
    const kinds = (await Promise.all(answers)).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(['accepted', 'ignored']);
    expect(rig.counts.get('scheduler_jobs_settled_total{finished,}')).toBe(1);
    expect(await remains(rig)).toEqual(NOTHING);
  });

  it('a failure whose write failed after its effect ends the job', async () => {
    const { rig, strikeMove } = createFaultyRig({ maxRetry: 0 });
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    strikeMove('throw_after_effect');
    void rig.service.fail(rig.last(job.jobId), FAILURE);
    await rig.clock.advance(5_000);
    expect(await rig.store.get(job.jobId)).toMatchObject({ state: 'RELEASED', failure: FAILURE });
    expect(await remains(rig)).toEqual(NOTHING);
  });

  it('a result survives one failed write', async () => {
    const { rig, strikeMove } = createFaultyRig();
    await rig.addNode('node-a', 1, legacyProfile());
    const job = await rig.dispatch();
    strikeMove('throw');
    void rig.service.finish(rig.last(job.jobId), RESULT);
    await rig.clock.advance(100_000);
    expect(await rig.store.get(job.jobId)).toMatchObject({ state: 'RELEASED', result: RESULT });
    expect(await remains(rig)).toEqual(NOTHING);
  });

  for (const fault of ['throw', 'throw_after_effect'] as const) {
    it(`an attempt is watched although its DISPATCHED write met ${fault}`, async () => {
      const { rig, strikeMove } = createFaultyRig();
      await rig.addNode('node-a');
      await rig.addNode('node-b');
      strikeMove(fault);
      const dispatching = rig.dispatch();
      await rig.clock.advance(10_000);
      const { jobId } = await dispatching;
      expect(rig.sent.map(({ nodeId }) => nodeId).sort()).toEqual(['node-a', 'node-b']);
      expect(rig.last(jobId).attempt).toBe(2);
    });

    it(`a failed attempt is retried although its RETRYING write met ${fault}`, async () => {
      const { rig, strikeMove } = createFaultyRig();
      await rig.addNode('node-a');
      await rig.addNode('node-b');
      const job = await rig.dispatch();
      strikeMove(fault);
      void rig.service.fail(rig.last(job.jobId), FAILURE);
      await rig.clock.advance(2_000);
      expect(rig.last(job.jobId).attempt).toBe(2);
    });

    it(`a woken waiter is dispatched although its RESERVED write met ${fault}`, async () => {
      const { rig, store, strikeMove } = createFaultyRig();
      await rig.addNode('node-a');
      const busy = await rig.dispatch();
      const waiting = rig.service.dispatch(rig.request({ waitMs: 5_000 }));
      await rig.clock.advance(10);
      // The busy job writes its result and its release; the third write is the waiter's.
      strikeMove(fault, 2);
      await rig.service.finish(rig.last(busy.jobId), RESULT);
      await rig.clock.advance(2_000);
      expect(store.struck('move')).toBe(1);
      expect(rig.service.waiting()).toBe(0);
      expect(await waiting).toMatchObject({ kind: 'dispatched', job: { state: 'DISPATCHED' } });
      expect(rig.sent).toHaveLength(2);
    });
  }

  it('an admit that failed after its effect leaves no request bound', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const same = rig.request({ requestId: 'r', fingerprint: 'f' });
    store.plan({ method: 'admit', at: [1], fault: 'throw_after_effect' });
    expect(rig.refusal(await rig.service.dispatch(same)).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect(await rig.store.bound('default', 'r')).toBeUndefined();
    const job = await rig.dispatch(same);
    expect(rig.sent).toHaveLength(1);
    await rig.clock.advance(LONG_MS);
    expect(['RELEASED', undefined]).toContain(await rig.state(job.jobId));
    expect(await remains(rig)).toEqual(NOTHING);
  });

  it('a repeat is not answered with a job that is being discarded', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const same = rig.request({ requestId: 'r', fingerprint: 'f' });
    store.plan(
      { method: 'admit', at: [1], fault: 'throw_after_effect' },
      { method: 'discard', fault: { delayMs: 20 } },
    );
    const first = rig.service.dispatch(same);
    await rig.clock.advance(10);
    const again = rig.service.dispatch(same);
    await rig.clock.advance(5_000);
    expect((await first).kind).toBe('refused');
    const outcome = await again;
    // It is refused like the first, or it is a new job with a node.
    expect(outcome.kind === 'refused' || outcome.job.fence !== undefined).toBe(true);
    expect(rig.sent).toHaveLength(outcome.kind === 'refused' ? 0 : 1);
  });

  it('I7: a refusal does not wait for releases and discards', async () => {
    const { rig, store, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    store.plan(
      { method: 'admit', fault: 'throw_after_effect' },
      { method: 'discard', fault: { delayMs: 800 } },
    );
    ledger.plan({ method: 'release', fault: { delayMs: 800 } });
    expect(rig.refusal(await rig.service.dispatch(rig.request())).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    await rig.clock.advance(2_000);
    expect(await remains(rig)).toEqual(NOTHING);
  });

  it('the next node is tried although the release of the first hangs', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    ledger.plan(
      { method: 'reserve', at: [1], fault: 'throw_after_effect' },
      { method: 'release', fault: { delayMs: 800 } },
    );
    await rig.dispatch();
    expect(ledger.struck('release')).toBe(1);
    await rig.clock.advance(2_000);
    const used = [await rig.used('node-a'), await rig.used('node-b')];
    expect(used.sort()).toEqual([0, 1]);
  });

  it('I2: a failed release is repeated until the ledger answers', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.service.acknowledge(rig.last(job.jobId));
    ledger.plan({ method: 'release', fault: 'throw' });
    await rig.service.finish(rig.last(job.jobId), RESULT);
    await rig.clock.advance(5_500);
    expect([await rig.used('node-a'), await rig.state(job.jobId)]).toEqual([1, 'RELEASED']);
    expect(ledger.calls('release')).toBe(6);
    ledger.heal();
    await rig.clock.advance(1_000);
    expect(await rig.used('node-a')).toBe(0);
    await rig.clock.advance(LONG_MS);
    expect(ledger.calls('release')).toBe(7);
  });

  it('an acknowledgement in time counts although its write fails for long', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const job = await rig.dispatch();
    store.plan({ method: 'move', fault: 'throw' });
    const acknowledged = rig.service.acknowledge(rig.last(job.jobId));
    await rig.clock.advance(10_000);
    store.heal();
    await rig.clock.advance(1_000);
    expect((await acknowledged).kind).toBe('accepted');
    expect(await rig.store.get(job.jobId)).toMatchObject({ state: 'RUNNING', fence: { attempt: 1 } });
    expect(rig.sent).toHaveLength(1);
    // The job timeout still counts from the send.
    await rig.clock.advance(50_000);
    expect(rig.sent).toHaveLength(2);
  });

  it('a release is not repeated after the lease must have ended', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.service.acknowledge(rig.last(job.jobId));
    ledger.plan({ method: 'release', fault: 'throw' });
    await rig.service.finish(rig.last(job.jobId), RESULT);
    await rig.clock.advance(LONG_MS);
    const calls = ledger.calls('release');
    await rig.clock.advance(LONG_MS);
    expect([ledger.calls('release'), await rig.used('node-a')]).toEqual([calls, 0]);
    expect(rig.clock.pending()).toBe(0);
  });

  it('a failed discard is repeated until the store answers', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const same = rig.request({ requestId: 'r', fingerprint: 'f' });
    store.plan(
      { method: 'admit', at: [1], fault: 'throw_after_effect' },
      { method: 'discard', at: [1, 2], fault: 'throw' },
    );
    const refused = rig.service.dispatch(same);
    await rig.clock.advance(10_000);
    expect(rig.refusal(await refused).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect(await rig.store.bound('default', 'r')).toBeUndefined();
    expect(await remains(rig)).toEqual(NOTHING);
  });

  it('a deadline settles with the best result although the store is down', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.addNode('node-full', 0);
    const job = await rig.dispatch();
    await rig.service.finish(rig.last(job.jobId), UNTRANSLATED);
    const made = store.calls('move');
    store.plan({ method: 'move', at: [made + 1, made + 2], fault: 'throw' });
    await rig.clock.advance(100_000);
    expect(store.struck('move')).toBe(2);
    expect(await rig.store.get(job.jobId)).toMatchObject({ state: 'RELEASED', result: UNTRANSLATED });
    expect(await remains(rig)).toEqual(NOTHING);
  });

  it('a job whose record is lost ends', async () => {
    let isLost = false;
    const rig = createRig({
      wrapStore: (inner) => ({
        ...inner,
        move: (...args) => (isLost ? Promise.resolve({ kind: 'unknown_job' }) : inner.move(...args)),
      }),
    });
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.service.acknowledge(rig.last(job.jobId));
    isLost = true;
    await rig.clock.advance(LONG_MS);
    expect(await remains(rig)).toEqual(NOTHING);
    expect(rig.clock.pending()).toBe(0);
  });
});
