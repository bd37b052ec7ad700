/** `durability = "replica"`: a script succeeds only when a replica has its writes. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCapacityLedger } from '../../../../src/adapters/redis/capacity-ledger.ts';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { withReplica } from '../../../../src/adapters/redis/connection/wait-for-replica.ts';
import { createKeys } from '../../../../src/adapters/redis/keys.ts';
import { type RedisUnderTest, startCluster, startRedis } from '../../../support/redis-servers.ts';

const START_MS = 60_000;
const CAPACITY = { slots: 2, isAccepting: true };

async function connect(redis: RedisUnderTest): Promise<RedisConnection> {
  const connection = connectRedis(redis.settings, { name: 'test' });
  await whenReady(connection, START_MS);
  return connection;
}

const ledgerOn = (connection: RedisConnection) =>
  createCapacityLedger({
    connection: withReplica(connection, 500),
    keys: createKeys(`test-${randomUUID()}`),
  });

describe('a write on a Cluster with replicas', () => {
  let redis: RedisUnderTest;
  let connection: RedisConnection;
  beforeAll(async () => {
    redis = await startCluster();
    connection = await connect(redis);
  }, START_MS);
  afterAll(async () => {
    connection?.disconnect();
    await redis?.stop();
  });

  it('is confirmed by a replica of its own shard', async () => {
    const ledger = ledgerOn(connection);
    for (const nodeId of ['node-a', 'node-b', 'node-c', 'node-d', 'node-e']) {
      await ledger.declare(nodeId, CAPACITY);
      expect(await ledger.reserve(nodeId, 'job:1', 5_000)).toMatchObject({ kind: 'reserved', used: 1 });
      expect((await ledger.loads([nodeId])).get(nodeId)).toEqual({ used: 1, max: 2 });
    }
  });
});

describe('a write on a server without replicas', () => {
  it('is unknown although it took effect', async () => {
    const redis = await startRedis();
    const connection = await connect(redis);
    try {
      await expect(ledgerOn(connection).declare('node-a', CAPACITY)).rejects.toMatchObject({
        code: 'SCHEDULER_DEPENDENCY_DOWN',
      });
    } finally {
      connection.disconnect();
      await redis.stop();
    }
  });
});
