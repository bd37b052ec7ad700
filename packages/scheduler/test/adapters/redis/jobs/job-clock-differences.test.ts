/** Instances whose clocks differ from the server’s, and from one another, by more than the duration of a job. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jobTag } from '../../../../src/adapters/shared-jobs/job-scripts.ts';
import { systemClock } from '../../../../src/adapters/system/clock.ts';
import { draftJob } from '../../../contracts/job-draft.ts';
import { type Connected, connectTo, freshKeys, openInstance } from '../../../support/redis-jobs.ts';
import { startRedis } from '../../../support/redis-servers.ts';

const DAY_MS = 24 * 3_600_000;
const TTL_MS = 90_000;
const MARGIN_MS = 60_000;

describe.each([
  ['behind', -DAY_MS],
  ['ahead', DAY_MS],
])('a job of an instance whose clock is far %s', (_, wrongByMs) => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startRedis());
  });
  afterAll(() => redis.close());

  async function start() {
    const keys = freshKeys();
    const now = () => systemClock.now() + wrongByMs;
    const { store, close } = openInstance(redis, keys, 'a', {
      liveMarginMs: MARGIN_MS,
      clock: { ...systemClock, now },
    });
    const job = draftJob(now(), { deadlineAt: now() + TTL_MS });
    expect(await store.admit(job)).toMatchObject({ kind: 'admitted' });
    const key = keys.job(jobTag(job.jobId));
    const expectTtl = (ms: number) => {
      expect(ms).toBeGreaterThan(TTL_MS);
      expect(ms).toBeLessThanOrEqual(TTL_MS + MARGIN_MS);
    };
    return { keys, key, store, job, now, close, expectTtl };
  }

  it('is kept until its deadline and a margin, also when restored', async () => {
    const { key, store, job, close, expectTtl } = await start();
    expectTtl(await redis.connection.pttl(key));
    await redis.connection.del(key);
    expect(await store.restore(job)).toBe('restored');
    expectTtl(await redis.connection.pttl(key));
    await close();
  });

  it('is in its driver’s index as long as its record is kept', async () => {
    const { keys, store, job, now, close, expectTtl } = await start();
    const later = draftJob(now(), { deadlineAt: now() + TTL_MS });
    await store.admit(later);
    const named = (await store.drivenBy('a', 10)).map(({ jobId }) => jobId);
    expect(named.sort()).toEqual([job.jobId, later.jobId].sort());
    expectTtl(await redis.connection.pttl(keys.instanceJobs('a')));
    await close();
  });

  it('keeps its remaining time after a takeover, by the new driver’s clock', async () => {
    const { keys, job, close } = await start();
    const b = openInstance(redis, keys, 'b', { liveMarginMs: MARGIN_MS });
    expect(await b.store.forgetIndexes('a')).toBe(false);
    const taken = await b.store.takeOver(job, { instanceId: 'a' });
    const leftMs = (taken.kind === 'taken' ? taken.job.deadlineAt : 0) - systemClock.now();
    expect(leftMs).toBeGreaterThan(TTL_MS - 10_000);
    expect(leftMs).toBeLessThanOrEqual(TTL_MS);
    // Other jobs begin in between, which removes expired entries.
    await b.store.admit(draftJob(systemClock.now(), { deadlineAt: systemClock.now() + TTL_MS }));
    expect((await b.store.drivenBy('b', 10)).map(({ jobId }) => jobId)).toContain(job.jobId);
    expect(await b.store.forgetIndexes('a')).toBe(true);
    await Promise.all([b.close(), close()]);
  });
});
