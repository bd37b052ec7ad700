/** Records that a failover lost or rolled back: only their driver restores them, and no record gets older. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobStoreLimits, SharedJobStore } from '../../../../src/adapters/redis/job-store.ts';
import { jobTag } from '../../../../src/adapters/shared-jobs/job-scripts.ts';
import type { JobRecord } from '../../../../src/domain/job.ts';
import { changeJob, type JobChange } from '../../../../src/domain/job-change.ts';
import { perTest } from '../../../contracts/harness.ts';
import { changeTo, draftJob, expectedOf, RESULT, repeatOf } from '../../../contracts/job-draft.ts';
import { type Connected, connectTo } from '../../../support/redis-jobs.ts';
import { startCluster, startRedis } from '../../../support/redis-servers.ts';
import { dispatch, fail, finish, move, openLosing } from './lossy-job-store.ts';

const START_MS = 60_000;
describe.each([
  ['one server', () => startRedis()],
  ['a Cluster', startCluster],
])('a job whose record was lost on %s', (_, startServers) => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startServers());
  }, START_MS);
  afterAll(() => redis.close());

  const start = perTest((limits: Partial<JobStoreLimits> = {}) => openLosing(redis, limits));

  const isBound = async (store: SharedJobStore, { tenantId, requestId, jobId }: JobRecord) =>
    (await store.bound(tenantId, requestId as string))?.jobId === jobId;

  it('is restored with its binding, its expiry and its index entry', async () => {
    const { keys, a, b, admit, lose, ttlOf } = await start({ liveMarginMs: 5_000 });
    const job = await dispatch(a, await admit());
    await lose(job);
    await redis.connection.del(keys.instanceJobs('a'));
    expect(await a.restore(job)).toBe('restored');
    expect(await b.get(job.jobId)).toEqual(job);
    expect(await isBound(b, job)).toBe(true);
    expect(await b.driverOf(job.jobId)).toEqual({ driver: 'a/1', isSettled: false });
    expect(await b.drivenBy('a', 5)).toEqual([{ jobId: job.jobId, deadlineAt: job.deadlineAt }]);
    expect(await ttlOf(job)).toBeGreaterThan(90_000);
    expect(await ttlOf(job)).toBeLessThanOrEqual(95_000);
    expect(await a.restore(job)).toBe('kept');
    expect(a.drives(job.jobId)).toBe(true);
    const running = await move(a, job, 'RUNNING');
    expect(await b.get(job.jobId)).toEqual(running);
  });

  it('is driven here again after a move found it unknown', async () => {
    const { a, admit, lose } = await start();
    const job = await dispatch(a, await admit());
    await lose(job);
    expect(await a.move(job.jobId, expectedOf(job), changeTo('RUNNING'))).toEqual({ kind: 'unknown_job' });
    expect(a.drives(job.jobId)).toBe(false);
    await a.restore(job);
    expect(a.drives(job.jobId)).toBe(true);
  });

  it('continues from the restored record', async () => {
    const { a, b, admit, lose } = await start();
    const job = await dispatch(a, await admit());
    await lose(job);
    await a.restore({ ...job, fence: { nodeId: 'node-c', attempt: 1 } });
    const moved = await a.move(job.jobId, expectedOf(job), changeTo('RUNNING'));
    expect(moved).toMatchObject({ kind: 'moved', job: { fence: { nodeId: 'node-c' } } });
    expect(moved).toEqual({ kind: 'moved', job: await b.get(job.jobId) });
  });

  it('gets its latest moves again after a rollback', async () => {
    const { a, b, admit, remember } = await start();
    const draft = await admit();
    const first = await dispatch(a, draft);
    const setBack = await remember(first);
    const retrying = await move(a, first, 'RETRYING');
    const reserved = await move(a, retrying, 'RESERVED', { intent: { nodeId: 'node-b', attempt: 2 } });
    await setBack();
    expect(await a.restore(reserved)).toBe('restored');
    expect(await b.get(draft.jobId)).toEqual(reserved);
    const setBackToIntent = await remember(reserved);
    const second = await dispatch(a, reserved, { nodeId: 'node-b', attempt: 2 });
    await setBackToIntent();
    await b.watch(draft.jobId, -1);
    expect(await a.restore(second)).toBe('restored');
    // Fields that only the earlier record had are cleared; its watchers stay.
    expect(await b.get(draft.jobId)).toEqual(second);
    const running = await a.move(draft.jobId, expectedOf(second), changeTo('RUNNING'));
    expect(running.kind === 'moved' && a.watchersOf(running.job)).toEqual(['b']);
  });

  it('never replaces a newer or settled record', async () => {
    const { a, b, admit } = await start();
    const draft = await admit();
    const first = await dispatch(a, draft);
    const running = await move(a, first, 'RUNNING');
    const longer = { ...draft, timeline: [...running.timeline, ...running.timeline] };
    for (const old of [draft, first, running, longer]) expect(await a.restore(old)).toBe('kept');
    expect(await b.get(draft.jobId)).toEqual(running);
    const finished = await move(a, running, 'FINISHED', { result: RESULT });
    const further = { ...running, fence: { nodeId: 'node-z', attempt: 7 } };
    for (const old of [running, further, finished]) expect(await a.restore(old)).toBe('kept');
    expect(await b.get(draft.jobId)).toEqual(finished);
  });

  it('I4 fencing: is not restored by a former driver', async () => {
    const { a, b, admit } = await start();
    const job = await dispatch(a, await admit());
    await b.takeOver(job, { instanceId: 'a' });
    const before = await b.get(job.jobId);
    expect(await a.restore({ ...job, fence: { nodeId: 'node-z', attempt: 9 } })).toBe('driven_elsewhere');
    expect(await b.get(job.jobId)).toEqual(before);
    expect(a.drives(job.jobId)).toBe(false);
    await a.close();
    expect(await b.drivenBy('a', 5)).toEqual([]);
  });

  it.each([
    ['finished', finish, true],
    ['failed', fail, false],
  ] as const)('is kept and bound no longer than before when it has %s', async (_how, end, staysBound) => {
    const limits = { retentionMs: 60_000, bindingLeaseMs: 30_000 };
    const { a, b, admit, lose, ttlOf, remember } = await start(limits);
    const draft = await admit();
    const setBack = await remember(draft);
    const settled = await end(a, draft);
    for (const damage of [() => lose(draft), setBack]) {
      await damage();
      expect(await a.restore(settled)).toBe('restored');
      expect(await b.get(draft.jobId)).toEqual(settled);
      expect(await isBound(b, draft)).toBe(staysBound);
      expect(await b.driverOf(draft.jobId)).toEqual({ driver: 'a/1', isSettled: true });
      expect(await ttlOf(draft)).toBeLessThanOrEqual(60_000);
      expect(await ttlOf(draft)).toBeGreaterThan(50_000);
    }
    const released = await move(a, settled, 'RELEASED');
    expect(await a.restore(released)).toBe('kept');
    // It was settled half a minute ago, so half a minute is left, and nothing of its lease.
    const old = {
      ...settled,
      timeline: settled.timeline.map((entry) => ({ ...entry, at: entry.at - 30_000 })),
    };
    await lose(draft);
    expect(await a.restore(old)).toBe('restored');
    expect(await ttlOf(draft)).toBeLessThanOrEqual(30_000);
    expect(await ttlOf(draft)).toBeGreaterThan(20_000);
    expect(await isBound(b, draft)).toBe(false);
  });

  it('is listed again when it is settled and the index was lost as well', async () => {
    const { keys, a, b, admit, lose } = await start();
    const finished = await finish(a, await admit());
    await a.close();
    await lose(finished);
    await redis.connection.del(keys.instanceSettledJobs('a'));
    await redis.connection.sadd(keys.instances, 'a');
    expect((await b.list({ limit: 5 })).jobs).toEqual([]);
    await a.restore(finished);
    await a.close();
    expect((await b.list({ limit: 5 })).jobs).toEqual([finished]);
    expect(await b.drivenBy('a', 5)).toEqual([]);
  });

  it('keeps the expiry of a settled record if only its release was lost', async () => {
    const { a, b, admit, remember, ttlOf } = await start();
    const finished = await finish(a, await admit());
    const setBack = await remember(finished);
    const released = await move(a, finished, 'RELEASED');
    await setBack();
    expect(await a.restore(released)).toBe('restored');
    expect(await b.get(released.jobId)).toEqual(released);
    expect(await ttlOf(released)).toBeLessThanOrEqual(60_000);
    expect(await isBound(b, released)).toBe(true);
  });

  it('I3 one live job: is not restored while its request has another job', async () => {
    const { a, b, admit, lose } = await start();
    const job = await admit();
    await lose(job);
    const next = repeatOf(job);
    await b.admit(next);
    expect(await a.restore(job)).toBe('driven_elsewhere');
    expect(a.drives(job.jobId)).toBe(false);
    expect(await a.bound(job.tenantId, job.requestId as string)).toEqual(next);
    const finished = await finish(b, next);
    expect(await a.restore(job)).toBe('driven_elsewhere');
    expect(await isBound(a, finished)).toBe(true);
    await lose(next);
    const third = repeatOf(job);
    await b.admit(third);
    const failed = await fail(b, third);
    expect(await a.restore(job)).toBe('restored');
    expect(await isBound(b, job)).toBe(true);
    expect(await b.get(third.jobId)).toEqual(failed);
    expect(await b.get(job.jobId)).toEqual(job);
  });

  it('a settled job is restored under its second key', async () => {
    const { keys, a, b, admit, lose } = await start();
    const failed = await fail(a, await admit());
    await lose(failed);
    const next = repeatOf(failed);
    await b.admit(next);
    expect(await a.restore(failed)).toBe('restored');
    expect(await b.get(failed.jobId)).toEqual(failed);
    expect(await isBound(b, next)).toBe(true);
    expect(await redis.connection.pttl(keys.earlierJob(jobTag(failed.jobId), failed.jobId))).toBeGreaterThan(
      0,
    );
    const released = await move(a, failed, 'RELEASED');
    expect(await a.restore(failed)).toBe('kept');
    await lose(next);
    // Found under its second key, although the first one is empty by now.
    expect(await a.restore(released)).toBe('kept');
    expect(await b.get(failed.jobId)).toEqual(released);
  });

  it('is restored from any rollback, with a history of any length', async () => {
    const { a, b, remember } = await start();
    const steps = fc.record({
      moves: fc.integer({ min: 1, max: 45 }),
      back: fc.integer({ min: 0, max: 44 }),
    });
    await fc.assert(
      fc.asyncProperty(steps, async ({ moves, back }) => {
        let job: JobRecord = draftJob(Date.now());
        await a.admit(job);
        let setBack = await remember(job);
        for (let at = 1; at <= moves; at += 1) {
          const entry = { state: 'RESERVED', at, attempt: 1 } as const;
          const intent = { nodeId: `node-${at}`, attempt: 1 };
          const change: JobChange = { state: 'RESERVED', entry, intent };
          await a.move(job.jobId, expectedOf(job), change);
          job = changeJob(job, change);
          if (at === back) setBack = await remember(job);
        }
        await setBack();
        expect(await a.restore(job)).toBe(back === moves ? 'kept' : 'restored');
        expect(await b.get(job.jobId)).toEqual(job);
        expect(await dispatch(a, job)).toEqual(await b.get(job.jobId));
      }),
      {
        numRuns: 12,
        examples: [[{ moves: 45, back: 40 }], [{ moves: 31, back: 1 }], [{ moves: 33, back: 33 }]],
      },
    );
  });
});
