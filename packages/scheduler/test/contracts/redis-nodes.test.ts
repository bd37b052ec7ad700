/** The node adapters obey their contracts on one Redis and on a Cluster. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from 'vitest';
import { createCapacityLedger } from '../../src/adapters/redis/capacity-ledger.ts';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys } from '../../src/adapters/redis/keys.ts';
import { createNodeIdClaims } from '../../src/adapters/redis/node-id-claims.ts';
import { createNodeMailbox } from '../../src/adapters/redis/node-mailbox.ts';
import { systemClock as clock } from '../../src/adapters/system/clock.ts';
import { type RedisUnderTest, startCluster, startRedis } from '../support/redis-servers.ts';
import { capacityLedgerContract } from './capacity-ledger.ts';
import { nodeIdClaimsContract } from './node-id-claims.ts';
import { type InboxMessage, nodeMailboxContract } from './node-mailbox.ts';

const START_MS = 60_000;

const real = {
  // Timers may fire up to a millisecond early by the server's clock.
  advance: async (ms: number) => void (await sleep(ms + 2)),
  close: async () => undefined,
  now: clock.now,
};

describe.each([
  ['one server', () => startRedis()],
  ['a Cluster', startCluster],
])('on %s', (where, startServers) => {
  let servers: RedisUnderTest;
  let connection: RedisConnection;
  let subscriber: RedisConnection;

  beforeAll(async () => {
    servers = await startServers();
    connection = connectRedis(servers.settings, { name: 'contracts' });
    subscriber = connectRedis(servers.settings, { name: 'contracts-subscriber', isListening: true });
    await Promise.all([whenReady(connection, START_MS), whenReady(subscriber, START_MS)]);
  }, START_MS);

  afterAll(async () => {
    connection.disconnect();
    subscriber.disconnect();
    await servers.stop();
  });

  /** An own prefix: tests must not disturb one another. */
  const freshKeys = () => createKeys(`test-${randomUUID()}`);

  capacityLedgerContract(where, async () => ({
    ...real,
    ledger: createCapacityLedger({ connection, keys: freshKeys() }),
  }));

  nodeIdClaimsContract(where, async (limits) => ({
    ...real,
    nodeIdClaims: createNodeIdClaims({ connection, keys: freshKeys(), clock, ...limits }),
  }));

  nodeMailboxContract(where, async (limits) => {
    const keys = freshKeys();
    return {
      ...real,
      ledger: createCapacityLedger({ connection, keys }),
      mailbox: createNodeMailbox<InboxMessage>({ connection, subscriber, keys, clock, ...limits }),
    };
  });
});
