/** Instances and inboxes obey their contracts on one Redis and on a Cluster. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from 'vitest';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../src/adapters/redis/connection/redis-connection.ts';
import { createInbox } from '../../src/adapters/redis/inbox.ts';
import { createInstances } from '../../src/adapters/redis/instances.ts';
import { createKeys } from '../../src/adapters/redis/keys.ts';
import { type RedisUnderTest, startCluster, startRedis } from '../support/redis-servers.ts';
import { inboxContract } from './inbox.ts';
import { instancesContract } from './instances.ts';

const START_MS = 60_000;

describe.each([
  ['one Redis', startRedis],
  ['a Cluster', startCluster],
])('on %s', (name, startServers) => {
  let redis: RedisUnderTest;
  let connection: RedisConnection;
  let blocking: RedisConnection;

  beforeAll(async () => {
    redis = await startServers();
    connection = connectRedis(redis.settings, { name: 'test' });
    blocking = connectRedis(redis.settings, { name: 'reader', isBlocking: true });
    await Promise.all([connection, blocking].map((each) => whenReady(each, START_MS)));
  }, START_MS);
  afterAll(async () => {
    for (const each of [connection, blocking]) each?.disconnect();
    await redis?.stop();
  });

  /** An own prefix, so that no test sees the keys of another. */
  const harness = () => ({
    keys: createKeys(`test-${randomUUID()}`),
    advance: async (ms: number) => void (await sleep(ms)),
    close: async () => undefined,
  });

  instancesContract(name, async () => {
    const { keys, ...timed } = harness();
    return { ...timed, instances: createInstances({ connection, keys }) };
  });

  inboxContract(name, async (limits) => {
    const { keys, ...timed } = harness();
    return {
      ...timed,
      inbox: createInbox({
        connection,
        blocking: () => blocking,
        keys,
        group: 'scheduler',
        ...limits,
      }),
    };
  });
});
