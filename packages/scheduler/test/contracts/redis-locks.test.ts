/** Locks obey their contract on one Redis and on a Cluster. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from 'vitest';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys } from '../../src/adapters/redis/keys.ts';
import { createLocks } from '../../src/adapters/redis/locks.ts';
import { type RedisUnderTest, startCluster, startRedis } from '../support/redis-servers.ts';
import { locksContract } from './locks.ts';

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

  locksContract(name, async () => {
    const keys = createKeys(`test-${randomUUID()}`);
    return {
      advance: async (ms: number) => void (await sleep(ms)),
      close: async () => undefined,
      locks: createLocks({ connection, keyOf: keys.lock }),
      others: createLocks({ connection, keyOf: keys.modelUnavailable }),
    };
  });
});
