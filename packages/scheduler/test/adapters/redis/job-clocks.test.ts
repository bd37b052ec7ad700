/** Instances whose clocks differ from the server’s, and from one another, by more than a job lasts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jobTag } from '../../../src/adapters/shared-jobs/job-scripts.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { draftJob } from '../../contracts/job-draft.ts';
import { type Connected, connectTo, freshKeys, openInstance } from '../../support/redis-jobs.ts';
import { startRedis } from '../../support/redis-servers.ts';

const DAY_MS = 24 * 3_600_000;
const LIVES_MS = 90_000;
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
    const job = draftJob(now(), { deadlineAt: now() + LIVES_MS });
    expect(await store.admit(job)).toMatchObject({ kind: 'admitted' });
    const key = keys.job(jobTag(job.jobId));
    const expectLife = (ms: number) => {
      expect(ms).toBeGreaterThan(LIVES_MS);
      expect(ms).toBeLessThanOrEqual(LIVES_MS + MARGIN_MS);
    };
    return { keys, key, store, job, now, close, expectLife };
  }

  it('is recorded until its deadline and a margin, also when its record is written anew', async () => {
    const { key, store, job, close, expectLife } = await start();
    expectLife(await redis.connection.pttl(key));
    await redis.connection.del(key);
    expect(await store.restore(job)).toBe('restored');
    expectLife(await redis.connection.pttl(key));
    await close();
  });

  it('is in the index of its driver as long, whatever is written to it after', async () => {
    const { keys, store, job, now, close, expectLife } = await start();
    const later = draftJob(now(), { deadlineAt: now() + LIVES_MS });
    await store.admit(later);
    const named = (await store.drivenBy('a', 10)).map(({ jobId }) => jobId);
    expect(named.sort()).toEqual([job.jobId, later.jobId].sort());
    expectLife(await redis.connection.pttl(keys.instanceJobs('a')));
    await close();
  });

  it('has as long as it was given when another takes it over, by that one’s clock, and is found until then', async () => {
    const { keys, job, close } = await start();
    const b = openInstance(redis, keys, 'b', { liveMarginMs: MARGIN_MS });
    expect(await b.store.forgetIndexes('a')).toBe(false);
    const taken = await b.store.takeOver(job, { instanceId: 'a' });
    const leftMs = (taken.kind === 'taken' ? taken.job.deadlineAt : 0) - systemClock.now();
    expect(leftMs).toBeGreaterThan(LIVES_MS - 10_000);
    expect(leftMs).toBeLessThanOrEqual(LIVES_MS);
    // Others are begun meanwhile, which is when what is over is swept.
    await b.store.admit(draftJob(systemClock.now(), { deadlineAt: systemClock.now() + LIVES_MS }));
    expect((await b.store.drivenBy('b', 10)).map(({ jobId }) => jobId)).toContain(job.jobId);
    expect(await b.store.forgetIndexes('a')).toBe(true);
    await Promise.all([b.close(), close()]);
  });
});
