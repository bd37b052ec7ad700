/** Several instances on one Redis: one record per job, moved only by its driver; limits per instance, lists of all. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobStoreLimits } from '../../../../src/adapters/redis/job-store.ts';
import type { JobRecord } from '../../../../src/domain/job.ts';
import type { JobQuery, JobStore } from '../../../../src/ports/job-store.ts';
import { fresh, perTest, times } from '../../../contracts/harness.ts';
import {
  changeTo,
  draftJob,
  draftRequest,
  expectedOf,
  fail,
  finish,
  repeatOf,
  run,
} from '../../../contracts/job-draft.ts';
import { type Connected, connectTo, freshKeys, openInstance } from '../../../support/redis-jobs.ts';
import { startCluster, startRedis } from '../../../support/redis-servers.ts';

const START_MS = 60_000;
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

describe.each([
  ['one server', () => startRedis()],
  ['a Cluster', startCluster],
])('job stores of several instances on %s', (_, startServers) => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startServers());
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

  it('I3 one live job per request when many instances admit it', async () => {
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

  it('I3 one live job per request when instances repeat a failed one', async () => {
    const { a, b } = await start();
    const draft = draftRequest(Date.now());
    await a.admit(draft);
    await fail(a, draft.jobId);
    const results = await Promise.all(times(20, (index) => (index % 2 === 0 ? a : b).admit(repeatOf(draft))));
    expect(results.filter(({ kind }) => kind === 'admitted')).toHaveLength(1);
    expect(await b.get(draft.jobId)).toMatchObject({ state: 'FAILED' });
  });

  it('never admits the same job twice, even after it failed', async () => {
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

  it('I4 fencing: only its driver moves or discards a job, in any state', async () => {
    const { a, b, c } = await start();
    const draft = draftRequest(Date.now());
    await a.admit(draft);
    const states = ['RESERVED', 'DISPATCHED', 'RUNNING', 'FINISHED', 'RELEASED'] as const;
    for (const [index, state] of states.entries()) {
      const before = await a.get(draft.jobId);
      const expected = expectedOf(before as JobRecord);
      for (const other of [b, c]) {
        expect(await other.move(draft.jobId, expected, changeTo('FAILED'))).toEqual({
          kind: 'driven_elsewhere',
        });
        expect(await other.discard(draft.jobId)).toBe('driven_elsewhere');
      }
      expect(await b.get(draft.jobId)).toEqual(before);
      const entry = { state, at: index, attempt: 0 };
      expect(await a.move(draft.jobId, expected, changeTo(state, { entry }))).toMatchObject({
        kind: 'moved',
      });
    }
    await a.admit(repeatOf(draft));
    expect(
      await b.move(draft.jobId, { state: 'RELEASED', fenceAttempt: 0 }, changeTo('FAILED')),
    ).toMatchObject({
      kind: expect.stringMatching(/^(driven_elsewhere|unknown_job)$/),
    });
  });

  it('I4 fencing: a failed job keeps its driver after a new binding', async () => {
    const { a, b } = await start();
    const draft = draftRequest(Date.now());
    await a.admit(draft);
    await fail(a, draft.jobId);
    await b.admit(repeatOf(draft));
    const expected = { state: 'FAILED', fenceAttempt: 0 } as const;
    expect(await b.move(draft.jobId, expected, changeTo('RELEASED'))).toEqual({ kind: 'driven_elsewhere' });
    expect(await a.move(draft.jobId, expected, changeTo('RELEASED'))).toMatchObject({ kind: 'moved' });
    expect(await a.driverOf(draft.jobId)).toEqual({ driver: 'a/1', isSettled: true });
  });

  it('I4 fencing: one of two concurrent moves wins, the other gets its record', async () => {
    const { a } = await start();
    for (const draft of times(10, () => draftJob(Date.now()))) {
      await a.admit(draft);
      await run(a, draft.jobId);
      const expected = { state: 'RUNNING', fenceAttempt: 1 } as const;
      const [one, two] = await Promise.all([
        a.move(draft.jobId, expected, changeTo('FINISHED')),
        a.move(draft.jobId, expected, changeTo('FAILED')),
      ]);
      expect([one?.kind, two?.kind].sort()).toEqual(['moved', 'stale']);
      expect(one !== undefined && 'job' in one && one.job).toEqual(
        two !== undefined && 'job' in two && two.job,
      );
    }
  });

  it('answers stale to a repeated move, also from RESERVED to RESERVED', async () => {
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

  it('I11 bounded: limits are per instance, and jobs settled elsewhere make room', async () => {
    const { a, b } = await start({ maxInflight: 1 });
    const [one, two, three] = times(3, () => draftRequest(Date.now())) as [JobRecord, JobRecord, JobRecord];
    await a.admit(one);
    expect(await a.admit(two)).toEqual({ kind: 'full' });
    expect(await b.admit(two)).toMatchObject({ kind: 'admitted' });
    expect(await a.admit(repeatOf(two))).toMatchObject({ kind: 'existing', job: { jobId: two.jobId } });
    expect(await a.admit(repeatOf(two, { fingerprint: 'other' }))).toMatchObject({ kind: 'conflict' });
    await b.takeOver(one, { instanceId: 'a' });
    await finish(b, one.jobId);
    // The next call for the job shows it.
    expect(await a.move(one.jobId, expectedOf(one), changeTo('FAILED'))).toEqual({
      kind: 'driven_elsewhere',
    });
    expect(await a.admit(three)).toMatchObject({ kind: 'admitted' });
  });

  it('lists the jobs of all instances newest first, live and settled, each once', async () => {
    const { a, b } = await start();
    const tenantId = fresh('tenant');
    const now = Date.now();
    const drafts = times(30, (index) => draftJob(now + index, { tenantId }));
    for (const [index, draft] of drafts.entries()) await (index % 2 === 0 ? a : b).admit(draft);
    for (const [index, draft] of drafts.entries()) {
      if (index >= 5 && index < 15) await finish(index % 2 === 0 ? a : b, draft.jobId);
    }
    for (const limit of [1, 7, 100]) {
      expect(await collect(b, { limit })).toEqual(ids(drafts).reverse());
    }
    const finished = ids(drafts.slice(5, 15)).reverse();
    expect(await collect(a, { tenantId, state: 'FINISHED', limit: 3 })).toEqual(finished);
  });

  it('pages without repeats or gaps while jobs are settled', async () => {
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

  it('lists nothing for an invalid cursor', async () => {
    const { a } = await start();
    await a.admit(draftJob(Date.now()));
    for (const cursor of ['', 'x', 'x.y', '.'])
      expect(await a.list({ limit: 5, cursor })).toEqual({ jobs: [] });
  });
});
