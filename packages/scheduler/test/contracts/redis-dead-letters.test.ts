/** Dead letters and instance figures obey their contracts on one Redis and on a Cluster. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from 'vitest';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../src/adapters/redis/connection/redis-connection.ts';
import { createDeadLetters } from '../../src/adapters/redis/dead-letters.ts';
import { createInbox } from '../../src/adapters/redis/inbox.ts';
import { createInstanceFigures } from '../../src/adapters/redis/instance-figures.ts';
import { createKeys } from '../../src/adapters/redis/keys.ts';
import { type RedisUnderTest, startCluster, startRedis } from '../support/redis-servers.ts';
import { deadLettersContract } from './dead-letters.ts';
import { instanceFiguresContract } from './instance-figures.ts';

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

  /** An own prefix, so that no test sees the keys of another. */
  const harness = () => ({
    keys: createKeys(`test-${randomUUID()}`),
    timed: { advance: async (ms: number) => void (await sleep(ms)), close: async () => undefined },
  });

  deadLettersContract(name, async (limits) => {
    const { keys, timed } = harness();
    const inbox = createInbox({
      connection,
      blocking: () => connection,
      keys,
      group: 'scheduler',
      ...limits,
    });
    return { ...timed, inbox, deadLetters: createDeadLetters({ connection, keys, inbox, ...limits }) };
  });

  instanceFiguresContract(name, async () => {
    const { keys, timed } = harness();
    return { ...timed, figures: createInstanceFigures({ connection, keys }) };
  });
});
