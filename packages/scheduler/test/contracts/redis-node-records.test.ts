/** Node records obey their contract on one Redis and on a Cluster. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from 'vitest';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys } from '../../src/adapters/redis/keys.ts';
import { createNodeRecords } from '../../src/adapters/redis/node-records.ts';
import { type RedisUnderTest, startCluster, startRedis } from '../support/redis-servers.ts';
import { nodeRecordsContract } from './node-records.ts';

const START_MS = 60_000;

describe.each([
  ['one Redis', startRedis],
  ['a Cluster', startCluster],
])('on %s', (name, startServers) => {
  let redis: RedisUnderTest;
  let connections: RedisConnection[] = [];

  beforeAll(async () => {
    redis = await startServers();
    connections = [
      connectRedis(redis.settings, { name: 'here' }),
      connectRedis(redis.settings, { name: 'there' }),
      connectRedis(redis.settings, { name: 'subscriber-here', isListening: true }),
      connectRedis(redis.settings, { name: 'subscriber-there', isListening: true }),
    ];
    await Promise.all(connections.map((connection) => whenReady(connection, START_MS)));
  }, START_MS);
  afterAll(async () => {
    for (const connection of connections) connection.disconnect();
    await redis?.stop();
  });

  nodeRecordsContract(name, async (limits) => {
    const keys = createKeys(`test-${randomUUID()}`);
    const [here, there, earHere, earThere] = connections as [
      RedisConnection,
      RedisConnection,
      RedisConnection,
      RedisConnection,
    ];
    return {
      here: createNodeRecords({ connection: here, subscriber: earHere, keys, ...limits }),
      there: createNodeRecords({ connection: there, subscriber: earThere, keys, ...limits }),
      // Timers may fire up to a millisecond early by the server's clock.
      advance: async (ms) => void (await sleep(ms + 2)),
      close: async () => undefined,
    };
  });
});
