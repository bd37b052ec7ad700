/** Records that a refused request may have left are discarded when the store answers again. */
import { describe, expect, it } from 'vitest';
import { SchedulerError } from '../../../src/domain/errors.ts';
import type { JobStore } from '../../../src/ports/job-store.ts';
import { type Faulty, faulty } from '../../support/faulty.ts';
import { createRig, RESULT, type Rig } from '../rigs/rig.ts';

const drivers = {
  claim: async () => ({ kind: 'theirs' as const }),
  placingResult: async () => undefined,
  offerAudio() {},
};

function createOutageRig(): { rig: Rig; store: Faulty<JobStore>; mostAtOnce: () => number } {
  let store: Faulty<JobStore> | undefined;
  let atOnce = 0;
  let most = 0;
  const rig = createRig({
    drivers,
    wrapStore(inner, clock) {
      store = faulty(inner, [], clock);
      const { port } = store;
      return {
        ...port,
        async discard(jobId) {
          atOnce += 1;
          most = Math.max(most, atOnce);
          try {
            return await port.discard(jobId);
          } finally {
            atOnce -= 1;
          }
        },
      };
    },
  });
  if (store === undefined) throw new Error('the rig wraps its store when it is made');
  return { rig, store, mostAtOnce: () => most };
}

async function refuseMany(rig: Rig, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const outcome = await rig.service.dispatch(rig.request({ requestId: `r-${at}`, fingerprint: 'f' }));
    expect(rig.refusal(outcome).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
  }
}

describe('a request refused in an outage', () => {
  it('keeps a job that is admitted later under the same id', async () => {
    const { rig, store } = createOutageRig();
    await rig.addNode('node-a');
    store.plan({ method: 'admit', fault: 'throw' }, { method: 'discard', fault: 'throw' });
    await rig.service.dispatch(rig.request({ jobId: 'job-utterance' }));
    await rig.clock.advance(250);
    store.heal();
    const filler = await rig.dispatch({ jobId: 'job-filler' });
    await rig.service.acknowledge(rig.last(filler.jobId));
    const second = rig.service.dispatch(rig.request({ jobId: 'job-utterance', waitMs: 10_000 }));
    await rig.clock.advance(5_000);
    expect(await rig.state('job-utterance')).toBe('CREATED');
    await rig.service.finish(rig.last(filler.jobId), RESULT);
    await rig.clock.advance(1_000);
    expect(await second).toMatchObject({ kind: 'dispatched', job: { state: 'DISPATCHED' } });
  });

  it('admits the same id only after its discard has ended', async () => {
    const { rig, store } = createOutageRig();
    await rig.addNode('node-a');
    store.plan(
      { method: 'admit', at: [1], fault: 'throw_after_effect' },
      { method: 'discard', fault: { delayMs: 400 } },
    );
    await rig.service.dispatch(rig.request({ jobId: 'job-1' }));
    const again = rig.service.dispatch(rig.request({ jobId: 'job-1' }));
    await rig.clock.advance(1_000);
    expect((await again).kind).toBe('dispatched');
    expect(await rig.state('job-1')).toBe('RESERVED');
  });

  it('keeps a job that is being admitted under the same id', async () => {
    const { rig, store } = createOutageRig();
    await rig.addNode('node-a');
    store.plan(
      { method: 'admit', at: [1], fault: 'throw' },
      { method: 'admit', fault: { answerDelayMs: 400 } },
      { method: 'discard', at: [1], fault: 'throw' },
    );
    await rig.service.dispatch(rig.request({ jobId: 'job-1' }));
    await rig.clock.advance(900);
    const again = rig.service.dispatch(rig.request({ jobId: 'job-1' }));
    await rig.clock.advance(3_000);
    expect((await again).kind).toBe('dispatched');
    expect([rig.sent.length, store.calls('discard')]).toEqual([1, 1]);
    expect(rig.service.drives('job-1')).toBe(true);
  });

  it('keeps a job that is in flight again under its id', async () => {
    const { rig, store } = createOutageRig();
    await rig.addNode('node-a');
    store.plan({ method: 'admit', fault: 'throw_after_effect' }, { method: 'discard', fault: 'throw' });
    await rig.service.dispatch(rig.request({ jobId: 'job-1' }));
    const job = await rig.store.get('job-1');
    if (job === undefined) throw new Error('not recorded');
    rig.service.resume(job);
    store.heal();
    await rig.clock.advance(2_500);
    expect(await rig.state('job-1')).toBe('RESERVED');
    await rig.clock.advance(200_000);
    expect([await rig.state('job-1'), rig.service.inFlight(), rig.clock.pending()]).toEqual([
      'RELEASED',
      0,
      0,
    ]);
  });

  it('is discarded when the same id is refused again', async () => {
    const { rig, store } = createOutageRig();
    await rig.addNode('node-a');
    store.plan(
      { method: 'admit', at: [1], fault: 'throw_after_effect' },
      { method: 'admit', fault: 'throw' },
      { method: 'discard', at: [1], fault: 'throw' },
    );
    await rig.service.dispatch(rig.request({ jobId: 'job-1' }));
    await rig.clock.advance(100);
    await rig.service.dispatch(rig.request({ jobId: 'job-1' }));
    expect(await rig.state('job-1')).toBe('RESERVED');
    await rig.clock.advance(3_000);
    expect(await rig.state('job-1')).toBeUndefined();
  });

  it('costs a bounded number of calls, and none after its deadline', async () => {
    const { rig, store } = createOutageRig();
    await rig.addNode('node-a');
    store.plan({ method: 'admit', fault: 'throw' }, { method: 'discard', fault: 'throw' });
    await refuseMany(rig, 500);
    const before = store.calls('discard');
    await rig.clock.advance(10_000);
    expect(store.calls('discard') - before).toBeLessThanOrEqual(11 * 32);
    await rig.clock.advance(90_000);
    const after = store.calls('discard');
    await rig.clock.advance(60_000);
    expect([store.calls('discard') - after, rig.clock.pending()]).toEqual([0, 0]);
  });

  it('is discarded soon after the outage, a few at a time', async () => {
    const { rig, store, mostAtOnce } = createOutageRig();
    await rig.addNode('node-a', 500);
    store.plan({ method: 'admit', fault: 'throw_after_effect' }, { method: 'discard', fault: 'throw' });
    await refuseMany(rig, 200);
    store.plan({ method: 'discard', fault: { delayMs: 10 } });
    await rig.clock.advance(2_000);
    for (let at = 0; at < 200; at++) expect(await rig.store.bound('default', `r-${at}`)).toBeUndefined();
    expect(mostAtOnce()).toBe(32);
    await rig.clock.advance(5_000);
    expect([rig.clock.pending(), await rig.used('node-a')]).toEqual([0, 0]);
  });

  it('does not delay discards of reachable records', async () => {
    const { rig, store } = createOutageRig();
    await rig.addNode('node-a', 500);
    store.plan({ method: 'admit', fault: 'throw_after_effect' }, { method: 'discard', fault: 'throw' });
    await refuseMany(rig, 100);
    let calls = store.calls('discard');
    store.plan({ method: 'discard', at: Array.from({ length: 31 }, () => ++calls), fault: 'throw' });
    await rig.clock.advance(1_500);
    const left = await Promise.all(
      Array.from({ length: 100 }, (_, at) => rig.store.bound('default', `r-${at}`)),
    );
    expect(left.filter((job) => job !== undefined)).toHaveLength(31);
    await rig.clock.advance(1_000);
    expect((await rig.store.list({ limit: 100 })).jobs).toEqual([]);
  });

  it('drops the oldest pending discards at the limit', async () => {
    const { rig, store } = createOutageRig();
    await rig.addNode('node-a', 20_000);
    store.plan({ method: 'admit', fault: 'throw' }, { method: 'discard', fault: 'throw' });
    await refuseMany(rig, 10_050);
    store.heal();
    const before = store.calls('discard');
    await rig.clock.advance(3_000);
    expect(store.calls('discard') - before).toBe(10_000);
    expect(rig.clock.pending()).toBe(0);
  });

  it('needs no discard when the admit was not sent', async () => {
    const unsent = new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', 'fenced', { isUnsent: true });
    const { rig, store } = createOutageRig();
    await rig.addNode('node-a');
    store.plan({ method: 'admit', fault: 'throw', error: unsent });
    await refuseMany(rig, 5);
    await rig.clock.advance(5_000);
    expect([store.calls('discard'), await rig.used('node-a')]).toEqual([0, 0]);
  });

  it('releases no slot when the reserve was not sent', async () => {
    const unsent = new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', 'fenced', { isUnsent: true });
    let released = 0;
    const rig = createRig({
      wrapLedger: (ledger) => ({
        ...ledger,
        reserve: () => Promise.reject(unsent),
        release(...lease) {
          released += 1;
          return ledger.release(...lease);
        },
      }),
    });
    await rig.addNode('node-a');
    expect((await rig.service.dispatch(rig.request())).kind).toBe('refused');
    expect(released).toBe(0);
  });
});

describe('a slot reserved for a request whose job is in flight already', () => {
  it('is released when the job has another slot', async () => {
    const { rig, store } = createOutageRig();
    await rig.addNode('node-a');
    await rig.dispatch({ jobId: 'job-1' });
    const holder = rig.last('job-1');
    await rig.service.acknowledge(holder);
    await rig.addNode('node-b');
    store.plan({ method: 'admit', fault: { answerDelayMs: 20 } });
    const again = rig.service.dispatch(rig.request({ jobId: 'job-1' }));
    await rig.clock.advance(100);
    expect(await again).toMatchObject({ kind: 'dispatched', isRepeat: true });
    expect([await rig.used('node-a'), await rig.used('node-b')]).toEqual([1, 0]);
  });

  it.each([true, false])('is kept when it is the slot of the job (among instances: %s)', async (isAmong) => {
    const rig = createRig(isAmong ? { drivers } : {});
    await rig.addNode('node-a', 2);
    await rig.dispatch({ jobId: 'job-1' });
    await rig.service.acknowledge(rig.last('job-1'));
    const again = await rig.service.dispatch(rig.request({ jobId: 'job-1' }));
    expect(again).toMatchObject({ kind: 'dispatched', isRepeat: true });
    expect(await rig.used('node-a')).toBe(1);
    await rig.service.finish(rig.last('job-1'), RESULT);
    expect(await rig.used('node-a')).toBe(0);
  });
});
