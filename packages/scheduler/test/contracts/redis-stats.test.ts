/** The statistics store obeys its contract on one Redis and on a Cluster. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys } from '../../src/adapters/redis/keys.ts';
import { createStatsStore } from '../../src/adapters/redis/stats-store.ts';
import { type RedisUnderTest, startCluster, startRedis } from '../support/redis-servers.ts';
import { statsStoreContract } from './stats-store.ts';

const START_MS = 60_000;

describe.each([
  ['one Redis', startRedis],
  ['a Cluster', startCluster],
])('on %s', (name, startServers) => {
  let redis: RedisUnderTest;
  let connection: RedisConnection;

  beforeAll(async () => {
    redis = await startServers();
    connection = connectRedis(redis.settings, { name: 'test' });
    await whenReady(connection, START_MS);
  }, START_MS);
  afterAll(async () => {
    connection?.disconnect();
    await redis?.stop();
  });

  statsStoreContract(name, async () => ({
    advance: async (ms) => void (await sleep(ms)),
    close: async () => undefined,
    // An own prefix, so that no test sees the keys of another.
    statsStore: createStatsStore({ connection, keys: createKeys(`test-${randomUUID()}`) }),
  }));

  it('keeps the snapshot under its documented key, with an expiry', async () => {
    const keys = createKeys('lingua');
    await createStatsStore({ connection, keys }).publish('{}', 45_000);
    expect(await connection.get('lingua:v1:stats:snapshot')).toBe('{}');
    expect(await connection.pttl('lingua:v1:stats:snapshot')).toBeGreaterThan(30_000);
  });
});
