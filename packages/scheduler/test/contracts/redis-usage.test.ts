/** The usage store obeys its contract on one Redis and on a Cluster. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUsageStore } from '../../src/adapters/redis/usage-store.ts';
import { systemClock as clock } from '../../src/adapters/system/clock.ts';
import { dayOf, hourOf, monthOf } from '../../src/domain/usage.ts';
import { type Connected, connectTo, freshKeys } from '../support/redis-jobs.ts';
import { startCluster, startRedis } from '../support/redis-servers.ts';
import { RETENTION_DAYS, usageStoreContract } from './usage-store.ts';

const START_MS = 60_000;
const DAY_MS = 86_400_000;
const LIMITS = { retentionDays: RETENTION_DAYS, maxTenants: 100 };

describe.each([
  ['one Redis', () => startRedis()],
  ['a Cluster', startCluster],
])('on %s', (where, startServers) => {
  let redis: Connected;

  beforeAll(async () => {
    redis = await connectTo(startServers());
  }, START_MS);
  afterAll(() => redis.close());

  usageStoreContract(where, async () => {
    const keys = freshKeys();
    return {
      store: createUsageStore({ connection: redis.connection, keys, clock, ...LIMITS }),
      other: createUsageStore({ connection: redis.other.connection, keys, clock, ...LIMITS }),
      now: clock.now,
      close: async () => undefined,
    };
  });

  it('lets every key of a tenant expire', async () => {
    const keys = freshKeys();
    const store = createUsageStore({ connection: redis.connection, keys, clock, ...LIMITS });
    const at = clock.now();
    await store.add('t', [
      { jobId: 'j', usage: { at, stages: [{ stage: 'asr', language: 'zh', amounts: { results: 1 } }] } },
    ]);
    const left = (key: string) => redis.connection.pttl(key);
    const hourMs = await left(keys.usageHour('t', hourOf(at)));
    expect(hourMs).toBeGreaterThan(RETENTION_DAYS * DAY_MS);
    expect(hourMs).toBeLessThanOrEqual((RETENTION_DAYS + 1) * DAY_MS);
    expect(await left(keys.usageDay('t', dayOf(at)))).toBeGreaterThan(31 * DAY_MS);
    expect(await left(keys.usageMonth('t', monthOf(at)))).toBeGreaterThan(31 * DAY_MS);
    expect(await left(keys.usageCounted('t'))).toBeGreaterThan(0);
  });
});
