/** A takeover call that failed may have had its effect: it is repeated until the store says who drives the job. */
import { describe, expect, it } from 'vitest';
import { createCertainTakeover } from '../../../src/cluster/recovery/takeover.ts';
import { faulty } from '../../support/faulty.ts';
import { createTestCluster } from '../../support/test-cluster.ts';
import { about } from '../membership/presence-rig.ts';
import { QUIET } from '../messaging/message-bus-rig.ts';
import { createSharedJobs } from './shared-jobs-rig.ts';
import { startTakeover } from './takeover-rig.ts';

const AGAIN_MS = 1_000;
const LIVES_MS = 3_600_000;

function start() {
  const {
    clock,
    store: { instances },
  } = createTestCluster();
  const jobs = createSharedJobs(clock);
  const resumed: string[] = [];
  const me = 'me/me-1';
  const store = faulty(
    jobs.takeoverStoreOf(() => me),
    [],
    clock,
  );
  const { takeOver, uncertain } = createCertainTakeover({
    takeoverStore: store.port,
    instances,
    resume: ({ jobId }) => void resumed.push(jobId),
    clock,
    log: QUIET,
  });
  return { clock, jobs, instances, resumed, me, store, takeOver, uncertain };
}

describe('a job that is taken over', () => {
  it('is returned at once to the caller that takes it over', async () => {
    const { clock, jobs, resumed, takeOver } = start();
    const job = await jobs.add('dead/dead-1');
    expect(await takeOver(job, { instanceId: 'dead' })).toEqual({ kind: 'taken', job });
    await clock.advance(10 * AGAIN_MS);
    expect([resumed, clock.pending()]).toEqual([[], 0]);
  });

  it('is driven here after a call that failed after its effect', async () => {
    const { clock, jobs, resumed, store, takeOver, me } = start();
    const { jobId, deadlineAt } = await jobs.add('dead/dead-1');
    store.plan({ method: 'takeOver', fault: 'throw_after_effect' });
    await expect(takeOver({ jobId, deadlineAt }, { instanceId: 'dead' })).rejects.toThrow();
    expect([jobs.driver(jobId), jobs.drivenIn('dead'), resumed]).toEqual([me, [], []]);
    await clock.advance(5 * AGAIN_MS);
    expect(resumed).toEqual([]);
    store.heal();
    await clock.advance(AGAIN_MS);
    expect(resumed).toEqual([jobId]);
    await clock.advance(10 * AGAIN_MS);
    expect([resumed.length, clock.pending()]).toEqual([1, 0]);
  });

  it('is not looked up again once a caller has the answer', async () => {
    const { clock, jobs, resumed, store, takeOver } = start();
    const job = await jobs.add('dead/dead-1');
    store.plan({ method: 'takeOver', at: [1], fault: 'throw_after_effect' });
    await expect(takeOver(job, { instanceId: 'dead' })).rejects.toThrow();
    expect((await takeOver(job, { instanceId: 'dead' })).kind).toBe('taken');
    await clock.advance(10 * AGAIN_MS);
    expect([resumed, store.calls('takeOver'), clock.pending()]).toEqual([[], 2, 0]);
  });

  it('is left alone if it is settled or driven by another instance', async () => {
    const { clock, jobs, resumed, store, takeOver } = start();
    const [settled, theirs] = [await jobs.add('dead/dead-1'), await jobs.add('dead/dead-1')];
    store.plan({ method: 'takeOver', at: [1, 2], fault: 'throw' });
    for (const job of [settled, theirs]) await takeOver(job, { instanceId: 'dead' }).catch(() => undefined);
    await jobs.settle(settled.jobId);
    jobs.assign(theirs.jobId, 'other/other-1');
    await clock.advance(10 * AGAIN_MS);
    expect([resumed, store.calls('takeOver'), clock.pending()]).toEqual([[], 4, 0]);
  });

  it('is left to its former driver if that drives it again', async () => {
    const { clock, jobs, instances, resumed, store, takeOver } = start();
    const job = await jobs.add('back/back-1');
    store.plan({ method: 'takeOver', at: [1], fault: 'throw' });
    await takeOver(job, { instanceId: 'back' }).catch(() => undefined);
    await instances.announce({ ...about('back'), incarnation: 'back-2' }, LIVES_MS);
    jobs.assign(job.jobId, 'back/back-2');
    await clock.advance(AGAIN_MS);
    expect([resumed, jobs.driver(job.jobId)]).toEqual([[], 'back/back-2']);
  });

  it('I11 bounded: is looked up with bounded concurrency and memory', async () => {
    const { clock, jobs, resumed, store, takeOver, uncertain } = start();
    store.plan({ method: 'takeOver', fault: 'throw' });
    const deadlineAt = clock.now();
    for (let at = 0; at < 10_001; at += 1)
      await takeOver({ jobId: `job-${at}`, deadlineAt }, { instanceId: 'dead' }).catch(() => undefined);
    expect([clock.pending(), uncertain()]).toEqual([1, 10_000]);
    const real = await jobs.add('dead/dead-1');
    store.heal();
    const before = store.calls('takeOver');
    await clock.advance(AGAIN_MS);
    expect(store.calls('takeOver') - before).toBe(10_000);
    expect([resumed, clock.pending(), uncertain()]).toEqual([[], 0, 0]);
    expect((await takeOver(real, { instanceId: 'dead' })).kind).toBe('taken');
  });
});

describe('two survivors of which one misses the answer to its takeover', () => {
  it('leave no job without a driver', async () => {
    const { survivor, deadWith, clock, jobs, isForgotten } = startTakeover();
    const [a, b] = [await survivor('a', { turnMs: 0 }), await survivor('b', { turnMs: 0 })];
    const [jobId = ''] = await deadWith('dead', { jobCount: 1 });
    a.stores.plan({ method: 'takeOver', at: [1], fault: 'throw_after_effect' });
    await a.sees('dead');
    await b.sees('dead');
    expect([jobs.driver(jobId), a.resumed, b.resumed, await isForgotten('dead')]).toEqual([
      'a/a-1',
      [],
      [],
      true,
    ]);
    await a.sees();
    await clock.advance(AGAIN_MS);
    expect([a.resumed, b.resumed]).toEqual([[jobId], []]);
  });
});
