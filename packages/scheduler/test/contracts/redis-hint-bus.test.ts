/** Hints obey their contract on one Redis, on a Cluster, and on a server without sharded channels. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../src/adapters/redis/connection/redis-connection.ts';
import { createHintBus } from '../../src/adapters/redis/hint-bus.ts';
import { createKeys } from '../../src/adapters/redis/keys.ts';
import {
  type RedisUnderTest,
  startCluster,
  startRedis,
  startRedisWithoutShardedChannels,
} from '../support/redis-servers.ts';
import { hintBusContract } from './hint-bus.ts';

const START_MS = 60_000;

describe.each([
  ['one Redis', startRedis],
  ['a Cluster', startCluster],
  ['a server without sharded channels', startRedisWithoutShardedChannels],
])('on %s', (name, startServers) => {
  let redis: RedisUnderTest;
  let connection: RedisConnection;
  let subscriber: RedisConnection;

  beforeAll(async () => {
    redis = await startServers();
    connection = connectRedis(redis.settings, { name: 'test' });
    subscriber = connectRedis(redis.settings, { name: 'subscriber', isListening: true });
    await Promise.all([whenReady(connection, START_MS), whenReady(subscriber, START_MS)]);
  }, START_MS);
  afterAll(async () => {
    connection?.disconnect();
    subscriber?.disconnect();
    await redis?.stop();
  });

  hintBusContract(name, async () => ({
    hintBus: createHintBus({ connection, subscriber, keys: createKeys(`test-${randomUUID()}`) }),
    close: async () => undefined,
  }));
});
