/**
 * While a slot moves from one server of a Cluster to another, a key that a script has just emptied counts as gone from there, and the script
 * is ended in its middle. What was asked for happens all the same, and the answer says so.
 */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Master, moveSlots } from '../../../../../proof/src/chaos/rig/move-slots.ts';
import {
  createCapacityLedger,
  type RedisCapacityLedger,
} from '../../../src/adapters/redis/capacity-ledger.ts';
import { createInstances } from '../../../src/adapters/redis/instances.ts';
import { createKeys } from '../../../src/adapters/redis/keys.ts';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../src/adapters/redis/redis-connection.ts';
import { slotOf } from '../../../src/adapters/redis/servers.ts';
import { eventually } from '../../support/eventually.ts';
import { type RedisUnderTest, startCluster } from '../../support/redis-servers.ts';

const START_MS = 60_000;
const LONG_MS = 60_000;
const MOMENT_MS = 5;
const keys = createKeys('lingua');

let redis: RedisUnderTest;
let connection: RedisConnection;
let ledger: RedisCapacityLedger;
let masters: readonly Master[];

beforeAll(async () => {
  redis = await startCluster();
  connection = connectRedis(redis.settings, { name: 'moving' });
  await whenReady(connection, START_MS);
  ledger = createCapacityLedger({ connection, keys });
  const all = redis.servers.map(({ port }) => ({ port, client: new Redis({ host: '127.0.0.1', port }) }));
  const roles = await Promise.all(all.map(({ client }) => client.role()));
  masters = all.filter((_, at) => roles[at]?.[0] === 'master');
}, START_MS);

afterAll(async () => {
  for (const { client } of masters ?? []) client.disconnect();
  connection?.disconnect();
  await redis?.stop();
});

/** Does it on a slot that has begun to move, and lets the slot arrive meanwhile. */
async function whileMoving<T>(key: string, operate: () => Promise<T>): Promise<T> {
  const slot = slotOf(key);
  const owned = await Promise.all(masters.map(({ client }) => ownsSlot(client, slot)));
  const from = masters[owned.indexOf(true)] as Master;
  const to = masters[(owned.indexOf(true) + 1) % masters.length] as Master;
  const [fromId, toId] = await Promise.all([from, to].map(({ client }) => client.call('CLUSTER', 'MYID')));
  await to.client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId));
  await from.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId));
  const operating = operate();
  await new Promise((resolve) => setTimeout(resolve, MOMENT_MS));
  await moveSlots([slot], { from, to, masters });
  return operating;
}

/** It answers for any key of the slot itself, and for no other. */
const ownsSlot = async (client: Redis, slot: number): Promise<boolean> => {
  const ranges = (await client.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
  const { port } = client.options;
  return ranges.some(([first, last, [, owner]]) => first <= slot && slot <= last && owner === port);
};

/** All of its keys exist: where one is missing, the server answers before anything runs. */
async function nodeWithLease(nodeId: string, ttlMs: number): Promise<void> {
  await ledger.declare(nodeId, { slots: 2, isAccepting: true });
  await ledger.reserve(nodeId, 'job:1', ttlMs);
  await ledger.fence(nodeId, 'job:1');
  expect(await connection.exists(keys.nodeLeaseMarks(nodeId), keys.nodeLeases(nodeId))).toBe(2);
}

describe('on a slot that moves', () => {
  it('the last lease of a node is given back', async () => {
    await nodeWithLease('node-a', LONG_MS);
    const answer = await whileMoving(keys.nodeLeases('node-a'), async () =>
      ledger.release('node-a', 'job:1'),
    );
    expect(answer).toEqual({ kind: 'released', used: 0, max: 2 });
  });

  it('a lease that had expired, the last one, is reserved again', async () => {
    await nodeWithLease('node-b', 1);
    await new Promise((resolve) => setTimeout(resolve, MOMENT_MS));
    const answer = await whileMoving(keys.nodeLeases('node-b'), async () =>
      ledger.reserve('node-b', 'job:1', LONG_MS),
    );
    expect(answer).toEqual({ kind: 'reserved', used: 1, max: 2 });
  });

  it('a lease that had expired, the last one, is committed', async () => {
    await nodeWithLease('node-c', 1);
    await new Promise((resolve) => setTimeout(resolve, MOMENT_MS));
    const answer = await whileMoving(keys.nodeLeases('node-c'), async () =>
      ledger.commit('node-c', 'job:1', LONG_MS),
    );
    expect(answer).toEqual({ kind: 'retaken', used: 1, max: 2 });
  });

  it('an instance that goes leaves word of it', async () => {
    const instances = createInstances({ connection, keys });
    const self = {
      instanceId: 'i-1',
      incarnation: 'first',
      startedAt: 0,
      hostname: 'here',
      pid: 1,
      version: '0',
    };
    await instances.announce(self, LONG_MS);
    await whileMoving(keys.presence('i-1'), () => instances.leave(self));
    await eventually(async () =>
      expect(await connection.hgetall(keys.presence('i-1'))).toEqual({ dead: '1' }),
    );
    expect((await instances.renew(self, LONG_MS)).kind).toBe('lost');
  });
});
