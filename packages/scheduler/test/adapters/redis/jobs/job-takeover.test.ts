/** Takeover of jobs: which instances may take them, what the former driver can still do, and the end of its indexes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SharedJobStore } from '../../../../src/adapters/redis/job-store.ts';
import type { JobRecord } from '../../../../src/domain/job.ts';
import { fresh, perTest, times } from '../../../contracts/harness.ts';
import {
  changeTo,
  draftJob,
  draftRequest,
  expectedOf,
  fail,
  finish,
  moveOn,
  repeatOf,
  run,
} from '../../../contracts/job-draft.ts';
import { type Connected, connectTo, freshKeys, openInstance } from '../../../support/redis-jobs.ts';
import { startCluster, startRedis } from '../../../support/redis-servers.ts';

const START_MS = 60_000;
const ids = (jobs: readonly { jobId: string }[]): string[] => jobs.map(({ jobId }) => jobId);

describe.each([
  ['one server', () => startRedis()],
  ['a Cluster', startCluster],
])('jobs of a dead instance on %s', (_, startServers) => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startServers());
  }, START_MS);
  afterAll(() => redis.close());

  /** `a` dies in most tests; `b` and `c` stay alive. */
  const start = perTest(async () => {
    const keys = freshKeys();
    const self = { incarnation: '1' };
    const opened = [
      openInstance(redis, keys, 'a', { driver: () => `a/${self.incarnation}` }),
      openInstance(redis.other, keys, 'b'),
      openInstance(redis, keys, 'c'),
    ];
    const [a, b, c] = opened.map(({ store }) => store) as [SharedJobStore, SharedJobStore, SharedJobStore];
    await redis.connection.sadd(keys.instances, 'a', 'b', 'c');
    const admit = async (count: number): Promise<JobRecord[]> => {
      const drafts = times(count, (index) => draftJob(Date.now() + index));
      for (const draft of drafts) await a.admit(draft);
      return drafts;
    };
    const close = async () => void (await Promise.all(opened.map((each) => each.close())));
    return { keys, self, a, b, c, admit, close };
  });

  const GONE = { instanceId: 'a' };

  it('are listed by its index, next deadlines first', async () => {
    const { b, admit } = await start();
    const drafts = await admit(3);
    expect(await b.drivenBy('a', 10)).toEqual(drafts.map(({ jobId, deadlineAt }) => ({ jobId, deadlineAt })));
    expect(ids(await b.drivenBy('a', 2))).toEqual(ids(drafts.slice(0, 2)));
    expect(await b.drivenBy('nobody', 2)).toEqual([]);
  });

  it('are each taken over by one of several instances, and leave the index', async () => {
    const { a, b, c, admit } = await start();
    const drafts = await admit(40);
    const driven = await b.drivenBy('a', 100);
    await Promise.all(
      driven.map(async (job, index) => {
        const results = await Promise.all([b.takeOver(job, GONE), c.takeOver(job, GONE)]);
        expect(results.map(({ kind }) => kind).sort()).toEqual(['driven', 'taken']);
        const [winner, loser] = results[0]?.kind === 'taken' ? [b, c] : [c, b];
        expect(await winner.takeOver(job, GONE)).toEqual({ kind: 'taken', job: drafts[index] });
        expect(await loser.takeOver(job, GONE)).toEqual({ kind: 'driven' });
        expect([winner.drives(job.jobId), loser.drives(job.jobId)]).toEqual([true, false]);
        expect(
          await loser.move(job.jobId, expectedOf(drafts[index] as JobRecord), changeTo('FAILED')),
        ).toEqual({
          kind: 'driven_elsewhere',
        });
        expect(await moveOn(winner, job.jobId, 'RESERVED')).toMatchObject({ kind: 'moved' });
      }),
    );
    await Promise.all([b.close(), c.close()]);
    expect(await a.drivenBy('a', 100)).toEqual([]);
    const indexed = [...(await a.drivenBy('b', 100)), ...(await a.drivenBy('c', 100))];
    expect(ids(indexed).toSorted()).toEqual(ids(drafts).toSorted());
  });

  it('I4 fencing: a former driver changes nothing after a takeover', async () => {
    const { a, b, admit } = await start();
    const [created, running] = (await admit(2)) as [JobRecord, JobRecord];
    const ran = await run(a, running.jobId);
    const known = (ran.kind === 'moved' && ran.job) as JobRecord;
    for (const job of [created, running]) await b.takeOver(job, GONE);
    const before = [await b.get(created.jobId), await b.get(running.jobId)];
    for (const job of [created, known]) {
      for (const state of ['FINISHED', 'FAILED', 'RETRYING', 'RELEASED'] as const) {
        expect(await a.move(job.jobId, expectedOf(job), changeTo(state))).toEqual({
          kind: 'driven_elsewhere',
        });
      }
      await a.discard(job.jobId);
      expect(await a.restore({ ...job, fence: { nodeId: 'node-z', attempt: 9 } })).toBe('driven_elsewhere');
      expect(await a.takeOver(job, GONE)).toEqual({ kind: 'driven' });
      expect(a.drives(job.jobId)).toBe(false);
    }
    await a.close();
    expect([await b.get(created.jobId), await b.get(running.jobId)]).toEqual(before);
    expect(ids(await a.drivenBy('b', 5)).toSorted()).toEqual(ids([created, running]).toSorted());
    expect(await moveOn(b, running.jobId, 'FINISHED')).toMatchObject({ kind: 'moved' });
  });

  it('are taken over only from incarnations that have ended', async () => {
    const { self, a, b, admit } = await start();
    const [earlier] = (await admit(1)) as [JobRecord];
    self.incarnation = '2';
    const later = draftJob(Date.now());
    await a.admit(later);
    const living = { instanceId: 'a', livingIncarnation: '2' };
    expect(await b.takeOver(later, living)).toEqual({ kind: 'driven' });
    expect(await b.takeOver(earlier, { instanceId: 'a', livingIncarnation: '1' })).toEqual({
      kind: 'driven',
    });
    // The jobs of the live incarnation stay in the index.
    expect(ids(await b.drivenBy('a', 5)).toSorted()).toEqual(ids([earlier, later]).toSorted());
    expect(await b.takeOver(earlier, living)).toMatchObject({ kind: 'taken' });
    expect(ids(await b.drivenBy('a', 5))).toEqual([later.jobId]);
    expect(await b.takeOver(later, { instanceId: 'x' })).toEqual({ kind: 'driven' });
    expect(await b.driverOf(later.jobId)).toEqual({ driver: 'a/2', isSettled: false });
    expect(await b.takeOver(later, GONE)).toMatchObject({ kind: 'taken' });
  });

  it('are taken over by a new incarnation of the same instance', async () => {
    const { keys, self, a, admit } = await start();
    const [job, other] = (await admit(2)) as [JobRecord, JobRecord];
    expect(a.drives(job.jobId)).toBe(true);
    self.incarnation = '2';
    expect(a.drives(job.jobId)).toBe(false);
    expect(await a.move(job.jobId, expectedOf(job), changeTo('FAILED'))).toEqual({
      kind: 'driven_elsewhere',
    });
    expect(await a.takeOver(job, { instanceId: 'a', livingIncarnation: '2' })).toEqual({
      kind: 'taken',
      job,
    });
    expect([a.drives(job.jobId), a.drives(other.jobId)]).toEqual([true, false]);
    expect(ids(await a.drivenBy('a', 5))).toEqual(ids([job, other]));
    const zombie = openInstance(redis.other, keys, 'a');
    expect(await zombie.store.move(job.jobId, expectedOf(job), changeTo('FAILED'))).toEqual({
      kind: 'driven_elsewhere',
    });
    const living = { instanceId: 'a', livingIncarnation: '2' };
    expect(await zombie.store.takeOver(job, living)).toEqual({ kind: 'driven' });
    expect(await zombie.store.restore(job)).toBe('driven_elsewhere');
    await zombie.store.discard(job.jobId);
    await zombie.close();
    // All incarnations share the index, so the late one must not remove the job from it.
    expect(ids(await a.drivenBy('a', 5))).toContain(job.jobId);
    expect(await moveOn(a, job.jobId, 'RESERVED')).toMatchObject({ kind: 'moved' });
  });

  it('separates instances whose names begin alike', async () => {
    const { keys, b } = await start();
    const other = openInstance(redis, keys, 'a/b');
    const [job] = [draftJob(Date.now())];
    await other.store.admit(job);
    for (const instanceId of ['a', 'a/b/1', '']) {
      expect(await b.takeOver(job, { instanceId })).toEqual({ kind: 'driven' });
    }
    expect(await b.takeOver(job, { instanceId: 'a/b' })).toMatchObject({ kind: 'taken' });
    await other.close();
  });

  it('name their driver, live or settled', async () => {
    const { a, b } = await start();
    const draft = draftRequest(Date.now());
    await a.admit(draft);
    expect(await b.driverOf(draft.jobId)).toEqual({ driver: 'a/1', isSettled: false });
    await fail(a, draft.jobId);
    expect(await b.driverOf(draft.jobId)).toEqual({ driver: 'a/1', isSettled: true });
    const repeat = repeatOf(draft);
    await b.admit(repeat);
    expect(await a.driverOf(draft.jobId)).toEqual({ driver: 'a/1', isSettled: true });
    expect(await a.driverOf(repeat.jobId)).toEqual({ driver: 'b/1', isSettled: false });
    expect(await a.driverOf(repeatOf(draft).jobId)).toBeUndefined();
    expect(await a.driverOf(fresh('job'))).toBeUndefined();
  });

  it('are taken over by the instance that gets a repeated request', async () => {
    const { a, b } = await start();
    const draft = draftRequest(Date.now());
    await a.admit(draft);
    const repeated = await b.admit(repeatOf(draft));
    expect(repeated).toMatchObject({ kind: 'existing', job: { jobId: draft.jobId } });
    const taken = repeated.kind === 'existing' && (await b.takeOver(repeated.job, GONE));
    expect(taken).toEqual({ kind: 'taken', job: draft });
    expect(await b.driverOf(draft.jobId)).toEqual({ driver: 'b/1', isSettled: false });
  });

  it('that are settled or unknown are not taken, and leave the index', async () => {
    const { a, b, admit } = await start();
    const [finished] = (await admit(1)) as [JobRecord];
    const request = draftRequest(Date.now());
    await a.admit(request);
    await finish(a, finished.jobId);
    await fail(a, request.jobId);
    await b.admit(repeatOf(request));
    const unknown = { jobId: fresh('job'), deadlineAt: Date.now() };
    expect(await b.takeOver(finished, GONE)).toEqual({ kind: 'settled' });
    expect(await b.takeOver(request, GONE)).toEqual({ kind: 'settled' });
    expect(await b.takeOver(unknown, GONE)).toEqual({ kind: 'unknown_job' });
    expect(b.drives(finished.jobId)).toBe(false);
    await b.close();
    expect(await b.drivenBy('a', 5)).toEqual([]);
    expect(ids(await a.drivenBy('b', 5))).not.toContain(finished.jobId);
  });

  it('stay in lists; the indexes are removed after the last takeover', async () => {
    const { keys, a, b, admit } = await start();
    const [live, ...finished] = (await admit(300)) as [JobRecord, ...JobRecord[]];
    await Promise.all(finished.map(({ jobId }) => fail(a, jobId)));
    await a.close();
    expect(await b.forgetIndexes('a')).toBe(false);
    expect(ids(await b.drivenBy('a', 5))).toEqual([live.jobId]);
    for (const round of [1, 2]) {
      await b.inheritSettled('a');
      expect(await redis.connection.zcard(keys.instanceSettledJobs('b'))).toBe(finished.length);
      expect([round, await b.takeOver(live, GONE)]).toMatchObject([round, { kind: 'taken' }]);
      expect(await b.forgetIndexes('a')).toBe(true);
    }
    const left = await Promise.all(
      [keys.instanceJobs('a'), keys.instanceSettledJobs('a')].map((key) => redis.connection.exists(key)),
    );
    expect(left).toEqual([0, 0]);
    await redis.connection.srem(keys.instances, 'a');
    const { jobs } = await b.list({ limit: 1_000 });
    expect(ids(jobs).toSorted()).toEqual(ids([live, ...finished]).toSorted());
  });

  it('that have expired do not keep the indexes after a takeover', async () => {
    const { keys, a, b } = await start();
    await a.admit(draftJob(Date.now()));
    await redis.connection.zadd(keys.instanceJobs('a'), Date.now() - 60_001, fresh('job'));
    expect(await b.forgetIndexes('a')).toBe(false);
    for (const job of await b.drivenBy('a', 5)) await b.takeOver(job, GONE);
    expect(await b.forgetIndexes('a')).toBe(true);
  });
});
