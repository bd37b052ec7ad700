/** A Redis that does not answer: every call returns *unknown*, may be repeated, and takes effect once. */
import { Command } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJobTally } from '../../../../src/adapters/shared-jobs/job-tally.ts';
import type { JobRecord } from '../../../../src/domain/job.ts';
import { fresh, times } from '../../../contracts/harness.ts';
import { changeTo, draftJob, draftRequest, expectedOf, repeatOf } from '../../../contracts/job-draft.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { type Connected, connectTo, freshKeys, openInstance, ROOMY } from '../../../support/redis-jobs.ts';
import { SHORT_TIMEOUTS, startRedis } from '../../../support/redis-servers.ts';

const DOWN = { name: 'SchedulerError', code: 'SCHEDULER_DEPENDENCY_DOWN', cause: expect.anything() };

describe('a job store whose Redis does not answer', () => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startRedis(), SHORT_TIMEOUTS);
  });
  afterAll(() => redis.close());

  const server = () => redis.servers.servers[0];

  it('throws SCHEDULER_DEPENDENCY_DOWN; repeated calls take effect once', async () => {
    const { store, events } = openInstance(redis, freshKeys(), 'instance-a');
    const [moving, discarded, admitted] = times(3, () => draftRequest(Date.now())) as [
      JobRecord,
      JobRecord,
      JobRecord,
    ];
    await store.admit(moving);
    await store.admit(discarded);
    const entry = { state: 'RESERVED', at: 7, attempt: 1, nodeId: 'node-a' } as const;
    const calls = [
      () => store.move(moving.jobId, expectedOf(moving), changeTo('RESERVED', { entry })),
      () => store.discard(discarded.jobId),
      () => store.admit(admitted),
      () => store.get(moving.jobId),
      () => store.bound(moving.tenantId, moving.requestId as string),
      () => store.list({ limit: 5 }),
      () => store.drivenBy('instance-a', 5),
      () => store.takeOver({ jobId: fresh('job'), deadlineAt: 0 }, { instanceId: 'a' }),
      () => store.driverOf(moving.jobId),
      () => store.restore(moving),
      () => store.inheritSettled('a'),
      () => store.forgetIndexes('a'),
    ];
    server()?.signal('SIGSTOP');
    const results = await Promise.allSettled(calls.map((call) => call()));
    // Neither a subscriber nor a publisher gets an error.
    events.publish(moving);
    events.subscribe(fresh('job'), () => undefined);
    server()?.signal('SIGCONT');
    for (const each of results) expect(each).toMatchObject({ status: 'rejected', reason: DOWN });

    await expect.poll(() => store.get(moving.jobId).catch(() => undefined)).toBeDefined();
    // A frozen server processes earlier commands when it continues, so the first call may have taken effect.
    const moved = await store.move(moving.jobId, expectedOf(moving), changeTo('RESERVED', { entry }));
    expect(moved).toMatchObject({ job: { state: 'RESERVED' } });
    const timeline = (await store.get(moving.jobId))?.timeline ?? [];
    expect(timeline.filter(({ at }) => at === 7)).toEqual([entry]);
    await store.discard(discarded.jobId);
    expect(await store.get(discarded.jobId)).toBeUndefined();
    expect(await store.admit(repeatOf(admitted))).toMatchObject({
      kind: expect.stringMatching(/^(admitted|existing)$/),
    });
    await events.close();
    await store.close();
  });

  it('marks the error as unsent once the breaker refuses commands', async () => {
    const { store } = openInstance(redis, freshKeys(), 'instance-a');
    const admit = async () => store.admit(draftRequest(Date.now()));
    server()?.signal('SIGSTOP');
    await expect(admit()).rejects.toMatchObject({ ...DOWN, isUnsent: false });
    await expect(admit()).rejects.toMatchObject({ ...DOWN, isUnsent: true });
    server()?.signal('SIGCONT');
    await expect.poll(() => admit().catch(() => undefined)).toMatchObject({ kind: 'admitted' });
    await store.close();
  });

  it('does not mark it as unsent if only the index write was refused', async () => {
    const keys = freshKeys();
    const refusal = Object.assign(new Error('silent'), { isUnsent: true });
    const connection = new Proxy(redis.connection, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) =>
          args.some((arg) => arg instanceof Command && arg.args.includes(keys.instanceJobs('instance-a')))
            ? Promise.reject(refusal)
            : value.apply(target, args);
      },
    });
    const { store } = openInstance({ ...redis, connection }, keys, 'instance-a');
    const draft = draftRequest(Date.now());
    await expect(store.admit(draft)).rejects.toMatchObject({ ...DOWN, isUnsent: false });
    expect(await store.get(draft.jobId)).toMatchObject({ state: 'CREATED' });
  });
});

describe('the tally of an instance', () => {
  function start(limits: Partial<typeof ROOMY> = {}) {
    const clock = createManualClock();
    return { clock, tally: createJobTally({ clock, ...ROOMY, ...limits }) };
  }

  it('counts a job as ended when its time is over', async () => {
    const { clock, tally } = start({ maxInflight: 1, liveMarginMs: 100 });
    expect(tally.claim(draftJob(clock.now(), { deadlineAt: clock.now() + 50 }))).toEqual({ kind: 'claimed' });
    await clock.advance(149);
    expect(tally.claim(draftJob(clock.now()))).toEqual({ kind: 'full' });
    await clock.advance(1);
    expect(tally.claim(draftJob(clock.now()))).toEqual({ kind: 'claimed' });
  });

  it('counts a job once, however often it is claimed, settled or left', () => {
    const { clock, tally } = start({ maxInflight: 1 });
    const draft = draftRequest(clock.now());
    expect(tally.claim(draft)).toEqual({ kind: 'claimed' });
    expect(tally.claim(draft)).toEqual({ kind: 'held' });
    expect(tally.levels()).toEqual({ bindings: 1, retained: 0, retainedBytes: 0 });
    for (let round = 0; round < 3; round += 1)
      tally.settle(draft.jobId, { tenantId: 'acme', bytes: 10, isBound: true });
    tally.leave(draft.jobId);
    tally.leave(draft.jobId);
    expect(tally.levels()).toEqual({ bindings: 1, retained: 1, retainedBytes: 2_058 });
    expect(tally.isInFlight(draft.jobId)).toBe(false);
  });

  it('drops retained and bound jobs after their time', async () => {
    const { clock, tally } = start({ retentionMs: 300, bindingLeaseMs: 100, maxBindings: 1 });
    const draft = draftRequest(clock.now());
    tally.claim(draft);
    tally.settle(draft.jobId, { tenantId: 'acme', bytes: 0, isBound: true });
    await clock.advance(100);
    // No binding has to be removed: the lease is over.
    expect(tally.claim(draftRequest(clock.now()))).toEqual({ kind: 'claimed' });
    expect(tally.levels()).toMatchObject({ bindings: 1, retained: 1 });
    await clock.advance(200);
    tally.claim(draftJob(clock.now()));
    expect(tally.levels()).toMatchObject({ retained: 0, retainedBytes: 0 });
  });

  it('counts a job that was taken over, regardless of the limit', () => {
    const { clock, tally } = start({ maxInflight: 1 });
    tally.claim(draftJob(clock.now()));
    const takenOver = draftJob(clock.now());
    tally.addTakenOver(takenOver);
    tally.addTakenOver(takenOver);
    expect(tally.isInFlight(takenOver.jobId)).toBe(true);
    tally.leave(takenOver.jobId);
    expect(tally.claim(draftJob(clock.now()))).toEqual({ kind: 'full' });
  });

  it('counts no job in flight after leaveAll, and keeps retained ones', () => {
    const { clock, tally } = start({ maxInflight: 2, maxBindings: 3 });
    const settled = draftRequest(clock.now());
    tally.claim(settled);
    tally.settle(settled.jobId, { tenantId: 'acme', bytes: 0, isBound: true });
    const [one, two] = times(2, () => draftRequest(clock.now())) as [JobRecord, JobRecord];
    for (const draft of [one, two]) expect(tally.claim(draft)).toEqual({ kind: 'claimed' });
    tally.leaveAll();
    expect(tally.isInFlight(one.jobId)).toBe(false);
    expect(tally.levels()).toMatchObject({ bindings: 1, retained: 1 });
    for (const draft of [one, two]) expect(tally.claim(draft)).toEqual({ kind: 'claimed' });
    expect(tally.claim(draftJob(clock.now()))).toEqual({ kind: 'full' });
  });
});
