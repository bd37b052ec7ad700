/** Several instances on one Cluster: one record per job, limits of each, lists of all, and jobs that change their driver. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobStoreLimits } from '../../../src/adapters/redis/job-store.ts';
import type { JobRecord } from '../../../src/domain/job.ts';
import type { JobQuery, JobStore } from '../../../src/ports/job-store.ts';
import { fresh, perTest, times } from '../../contracts/harness.ts';
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
} from '../../contracts/job-draft.ts';
import { type Connected, connectTo, freshKeys, openInstance } from '../../support/redis-jobs.ts';
import { startCluster } from '../../support/redis-servers.ts';

const START_MS = 30_000;
const ids = (jobs: readonly JobRecord[]): string[] => jobs.map((job) => job.jobId);

async function collect(store: JobStore, query: JobQuery, between?: () => Promise<void>): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await store.list({ ...query, ...(cursor !== undefined && { cursor }) });
    found.push(...ids(page.jobs));
    if (cursor === undefined) await between?.();
    cursor = page.cursor;
    if (cursor === undefined) return found;
  }
}

describe('job stores of several instances', () => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startCluster());
  }, START_MS);
  afterAll(() => redis.close());

  const start = perTest(async (limits: Partial<JobStoreLimits> = {}) => {
    const keys = freshKeys();
    const [one, two, three] = [
      openInstance(redis, keys, 'a', limits),
      openInstance(redis.other, keys, 'b', limits),
      openInstance(redis, keys, 'c', limits),
    ];
    await redis.connection.sadd(keys.instances, 'a', 'b');
    return {
      keys,
      a: one.store,
      b: two.store,
      c: three.store,
      close: async () => void (await Promise.all([one.close(), two.close(), three.close()])),
    };
  });

  it('I3 one live job per request, however many instances admit it at once', async () => {
    const { a, b } = await start();
    for (const draft of times(10, () => draftRequest(Date.now()))) {
      const results = await Promise.all(
        times(20, (index) => (index % 2 === 0 ? a : b).admit(repeatOf(draft))),
      );
      expect(results.filter(({ kind }) => kind === 'admitted')).toHaveLength(1);
      expect(results.filter(({ kind }) => kind === 'existing')).toHaveLength(19);
      expect(new Set(results.map((result) => result.kind !== 'full' && result.job.jobId)).size).toBe(1);
    }
  });

  it('I3 one live job per request when a failed one is repeated on all instances at once', async () => {
    const { a, b } = await start();
    const draft = draftRequest(Date.now());
    await a.admit(draft);
    await fail(b, draft.jobId);
    const results = await Promise.all(times(20, (index) => (index % 2 === 0 ? a : b).admit(repeatOf(draft))));
    expect(results.filter(({ kind }) => kind === 'admitted')).toHaveLength(1);
    expect(await b.get(draft.jobId)).toMatchObject({ state: 'FAILED' });
  });

  it('never admits the same job twice, also when it has failed since', async () => {
    const { a, b } = await start();
    const draft = draftRequest(Date.now());
    await a.admit(draft);
    await fail(a, draft.jobId);
    const job = await b.get(draft.jobId);
    expect(await b.admit(draft)).toEqual({ kind: 'existing', job });
    expect(await b.get(draft.jobId)).toEqual(job);
  });

  it('refuses a job that is not named after its request', async () => {
    const { a } = await start();
    const draft = draftRequest(Date.now(), { requestId: 'one' });
    await expect(a.admit({ ...draft, requestId: 'another' })).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
    });
  });

  it('I4 fencing: of moves on two instances one wins, and the other sees what it did', async () => {
    const { a, b } = await start();
    for (const draft of times(10, () => draftJob(Date.now()))) {
      await a.admit(draft);
      await run(a, draft.jobId);
      const expected = { state: 'RUNNING', fenceAttempt: 1 } as const;
      const [one, two] = await Promise.all([
        a.move(draft.jobId, expected, changeTo('FINISHED')),
        b.move(draft.jobId, expected, changeTo('FAILED')),
      ]);
      expect([one?.kind, two?.kind].sort()).toEqual(['moved', 'stale']);
      expect(one !== undefined && 'job' in one && one.job).toEqual(
        two !== undefined && 'job' in two && two.job,
      );
    }
  });

  it('shows a mover what others moved since it last looked, though state and fence are what it expects', async () => {
    const { a, b } = await start();
    const draft = draftJob(Date.now());
    await a.admit(draft);
    const intent = (nodeId: string) => ({
      intent: { nodeId, attempt: 1 },
      entry: { state: 'RESERVED', at: 1, attempt: 1, nodeId } as const,
    });
    await moveOn(a, draft.jobId, 'RESERVED', intent('node-a'));
    await moveOn(b, draft.jobId, 'RESERVED', intent('node-b'));
    const moved = await a.move(
      draft.jobId,
      { state: 'RESERVED', fenceAttempt: 0 },
      changeTo('RESERVED', { entry: intent('node-c').entry }),
    );
    expect(moved).toEqual({ kind: 'moved', job: await b.get(draft.jobId) });
    expect(moved).toMatchObject({ job: { intent: { nodeId: 'node-b' } } });
  });

  it('says of a repeated move that it is stale, also when it leads to the state it starts from', async () => {
    const { a } = await start();
    const draft = draftJob(Date.now(), { state: 'RESERVED' });
    await a.admit(draft);
    const entry = { state: 'RESERVED', at: 5, attempt: 1, nodeId: 'node-b' } as const;
    const again = () => a.move(draft.jobId, expectedOf(draft), changeTo('RESERVED', { entry }));
    expect(await again()).toMatchObject({ kind: 'moved' });
    const repeated = await again();
    expect(repeated).toMatchObject({ kind: 'stale' });
    expect(repeated.kind === 'stale' && repeated.job.timeline).toHaveLength(2);
  });

  it('I11 bounded: limits are those of an instance, and what ends on another makes room here', async () => {
    const { a, b } = await start({ maxInflight: 1 });
    const [one, two, three] = times(3, () => draftRequest(Date.now())) as [JobRecord, JobRecord, JobRecord];
    await a.admit(one);
    expect(await a.admit(two)).toEqual({ kind: 'full' });
    expect(await b.admit(two)).toMatchObject({ kind: 'admitted' });
    expect(await a.admit(repeatOf(two))).toMatchObject({ kind: 'existing', job: { jobId: two.jobId } });
    expect(await a.admit(repeatOf(two, { fingerprint: 'other' }))).toMatchObject({ kind: 'conflict' });
    await finish(b, one.jobId);
    // It hears of that by whatever it asks next about the job.
    await a.move(one.jobId, expectedOf(one), changeTo('FAILED'));
    expect(await a.admit(three)).toMatchObject({ kind: 'admitted' });
  });

  it('lists the jobs of all instances newest first, live and settled, each once', async () => {
    const { a, b } = await start();
    const tenantId = fresh('tenant');
    const now = Date.now();
    const drafts = times(30, (index) => draftJob(now + index, { tenantId }));
    for (const [index, draft] of drafts.entries()) await (index % 2 === 0 ? a : b).admit(draft);
    for (const draft of drafts.slice(5, 15)) await finish(a, draft.jobId);
    for (const limit of [1, 7, 100]) {
      expect(await collect(b, { limit })).toEqual(ids(drafts).reverse());
    }
    const finished = ids(drafts.slice(5, 15)).reverse();
    expect(await collect(a, { tenantId, state: 'FINISHED', limit: 3 })).toEqual(finished);
  });

  it('goes on without repeats or gaps when jobs are settled between two pages', async () => {
    const { a, b } = await start();
    const drafts = times(12, (index) => draftJob(Date.now() + index));
    for (const draft of drafts) await a.admit(draft);
    const found = await collect(b, { limit: 5 }, async () => {
      for (const draft of drafts) await fail(a, draft.jobId);
      await a.close();
    });
    expect(found).toEqual(ids(drafts).reverse());
  });

  it('loses none of many jobs with one deadline', async () => {
    const { a, b } = await start();
    const now = Date.now();
    const drafts = times(350, () => draftJob(now));
    await Promise.all(drafts.map((draft, index) => (index % 3 === 0 ? a : b).admit(draft)));
    for (const limit of [9, 200]) {
      expect((await collect(a, { limit })).toSorted()).toEqual(ids(drafts).toSorted());
    }
  });

  it('lists nothing for a cursor that is none', async () => {
    const { a } = await start();
    await a.admit(draftJob(Date.now()));
    for (const cursor of ['', 'x', 'x.y', '.'])
      expect(await a.list({ limit: 5, cursor })).toEqual({ jobs: [] });
  });

  it('lets one survivor take over a job of a dead instance, as often as it asks, and nobody else', async () => {
    const { keys, a, b, c } = await start();
    const drafts = times(3, (index) => draftJob(Date.now() + index));
    for (const draft of drafts) await a.admit(draft);
    await finish(a, drafts[2]?.jobId ?? '');
    const driven = await b.drivenBy('a', 10);
    expect(driven.map(({ jobId }) => jobId)).toEqual(ids(drafts));
    expect(await b.drivenBy('a', 2)).toEqual(driven.slice(0, 2));
    const [first, , settled] = driven as [(typeof driven)[0], (typeof driven)[0], (typeof driven)[0]];
    const results = await Promise.all([b.takeOver(first, 'a/1'), c.takeOver(first, 'a/1')]);
    expect(results.map(({ kind }) => kind).sort()).toEqual(['driven', 'taken']);
    const [winner, loser] = results[0]?.kind === 'taken' ? [b, c] : [c, b];
    expect(await winner.takeOver(first, 'a/1')).toEqual({ kind: 'taken', job: drafts[0] });
    expect(await loser.takeOver(first, 'a/1')).toEqual({ kind: 'driven' });
    expect(winner.drives(first.jobId)).toBe(true);
    expect(loser.drives(first.jobId)).toBe(false);
    expect(await b.takeOver(settled, 'a/1')).toEqual({ kind: 'settled' });
    expect(await b.takeOver({ jobId: fresh('job'), deadlineAt: Date.now() }, 'a/1')).toEqual({
      kind: 'unknown_job',
    });
    expect(await moveOn(winner, first.jobId, 'RESERVED')).toMatchObject({ kind: 'moved' });
    await redis.connection.sadd(keys.instances, 'c');
    await redis.connection.del(keys.instanceJobs('a'), keys.instanceSettledJobs('a'));
    await b.close();
    expect((await collect(b, { limit: 1 })).toSorted()).toEqual([first.jobId, settled.jobId].toSorted());
  });
});
