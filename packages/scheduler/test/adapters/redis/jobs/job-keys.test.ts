/** Every key of a job in Redis has an expiry, and none is left after it. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JobStore } from '../../../../src/ports/job-store.ts';
import { times } from '../../../contracts/harness.ts';
import { draftJob, draftRequest, fail, finish, moveOn, repeatOf } from '../../../contracts/job-draft.ts';
import { type Connected, connectTo, freshKeys, openInstance } from '../../../support/redis-jobs.ts';
import { startCluster } from '../../../support/redis-servers.ts';

const START_MS = 60_000;

describe('the keys of jobs', () => {
  let redis: Connected;
  let servers: Redis[];
  beforeAll(async () => {
    redis = await connectTo(startCluster());
    servers = redis.servers.servers.map(({ port }) => new Redis({ port }));
  }, START_MS);
  afterAll(async () => {
    for (const server of servers) server.disconnect();
    await redis.close();
  });

  const masters = async (): Promise<Redis[]> => {
    const roles = await Promise.all(servers.map(async (server) => (await server.role())[0]));
    return servers.filter((_, index) => roles[index] === 'master');
  };
  const keyCount = async (): Promise<number> =>
    (await Promise.all((await masters()).map((server) => server.dbsize()))).reduce((sum, size) => sum + size);

  /** Key → time to live, of all keys. */
  async function ttls(): Promise<Map<string, number>> {
    const all = await Promise.all(
      (await masters()).map(async (server) =>
        Promise.all((await server.keys('*')).map(async (key) => [key, await server.pttl(key)] as const)),
      ),
    );
    return new Map(all.flat());
  }

  /** Key and time of its expiry, of all keys. */
  async function expiryTimes(): Promise<(readonly [string, number])[]> {
    const all = await Promise.all(
      (await masters()).map(async (server) =>
        Promise.all(
          (await server.keys('*')).map(async (key) => [key, await server.pexpiretime(key)] as const),
        ),
      ),
    );
    return all.flat();
  }

  it('expire in every state: settled, failed, repeated, discarded, abandoned', async () => {
    const limits = { retentionMs: 600_000, bindingLeaseMs: 600_000, liveMarginMs: 600_000 };
    const { store, close } = openInstance(redis, freshKeys(), 'instance-a', limits);
    const now = Date.now();
    await passThroughStates(store, now, now + 600_000);
    const found = await ttls();
    expect(found.size).toBeGreaterThan(30);
    expect([...found].filter(([, ttl]) => ttl <= 0)).toEqual([]);
    await close();
  });

  it('are gone after their expiry', async () => {
    const baseline = await keyCount();
    const limits = { retentionMs: 400, bindingLeaseMs: 100, liveMarginMs: 300 };
    const { store, close } = openInstance(redis, freshKeys(), 'instance-a', limits);
    const now = Date.now();
    await passThroughStates(store, now, now + 500);
    await close();
    await vi.waitFor(async () => expect(await keyCount()).toBe(baseline), { timeout: 60_000, interval: 50 });
  });

  it('of an unsettled job expire a margin after its deadline', async () => {
    const marginMs = 500_000;
    const { store, close } = openInstance(redis, freshKeys(), 'instance-a', { liveMarginMs: marginMs });
    const before = new Set((await ttls()).keys());
    const begunAt = Date.now();
    await store.admit(draftJob(begunAt, { deadlineAt: begunAt + 900_000 }));
    await store.admit(draftJob(begunAt, { deadlineAt: begunAt - 900_000 }));
    const writtenAt = Date.now();
    const expiries = (await expiryTimes()).filter(([key]) => key.endsWith(':fsm') && !before.has(key));
    const [short, long] = expiries.map(([, at]) => at).toSorted((a, b) => a - b) as [number, number];
    // After a deadline in the past the margin counts from the write.
    expect(short).toBeGreaterThanOrEqual(begunAt + marginMs);
    expect(short).toBeLessThanOrEqual(writtenAt + marginMs);
    expect(long).toBeGreaterThanOrEqual(begunAt + 900_000 + marginMs);
    expect(long).toBeLessThanOrEqual(writtenAt + 900_000 + marginMs);
    await close();
  });
});

/** Admits 40 jobs and moves them on, so that some are left in every state that a record can end in. */
async function passThroughStates(store: JobStore, now: number, deadlineAt: number): Promise<void> {
  const drafts = times(40, (index) =>
    index % 2 === 0 ? draftJob(now, { deadlineAt }) : draftRequest(now, { deadlineAt }),
  );
  for (const draft of drafts) await store.admit(draft);
  for (const [index, draft] of drafts.entries()) {
    if (index < 15) await finish(store, draft.jobId);
    else if (index < 25) await fail(store, draft.jobId);
    else if (index < 30) await store.discard(draft.jobId);
    if (index < 5 || (index >= 15 && index < 20)) await moveOn(store, draft.jobId, 'RELEASED');
    if (index >= 20 && index < 25) await store.admit(repeatOf(draft));
  }
}
