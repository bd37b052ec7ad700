/**
 * While a hash slot moves from one server of a Cluster to another, a key that a script has just emptied counts as moved, and the server
 * ends the script early. The operation is completed nevertheless, with the right answer.
 */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Master, moveSlots } from '../../../../../../proof/src/chaos/rig/move-slots.ts';
import {
  createCapacityLedger,
  type RedisCapacityLedger,
} from '../../../../src/adapters/redis/capacity-ledger.ts';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { slotOf } from '../../../../src/adapters/redis/connection/servers.ts';
import { withReplica } from '../../../../src/adapters/redis/connection/wait-for-replica.ts';
import { createInstances } from '../../../../src/adapters/redis/instances.ts';
import { createKeys } from '../../../../src/adapters/redis/keys.ts';
import { createNodeMailbox } from '../../../../src/adapters/redis/node-mailbox.ts';
import { systemClock as clock } from '../../../../src/adapters/system/clock.ts';

import { type RedisUnderTest, startCluster } from '../../../support/redis-servers.ts';

const START_MS = 60_000;
const LONG_MS = 60_000;
const SHORT_MS = 5;
const keys = createKeys('lingua');
const SELF = {
  instanceId: 'i-1',
  incarnation: 'first',
  startedAt: 0,
  hostname: 'here',
  pid: 1,
  version: '0',
};

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

/** Runs it on a hash slot that has begun to move, and completes the move in between. */
async function whileMoving<T>(key: string, operate: () => Promise<T>): Promise<T> {
  const slot = slotOf(key);
  const owned = await Promise.all(masters.map(({ client }) => ownsSlot(client, slot)));
  const from = masters[owned.indexOf(true)] as Master;
  const to = masters[(owned.indexOf(true) + 1) % masters.length] as Master;
  const [fromId, toId] = await Promise.all([from, to].map(({ client }) => client.call('CLUSTER', 'MYID')));
  await to.client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId));
  await from.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId));
  const operating = operate();
  await new Promise((resolve) => setTimeout(resolve, SHORT_MS));
  await moveSlots([slot], { from, to, masters });
  return operating;
}

/** It handles keys of this hash slot only. */
const ownsSlot = async (client: Redis, slot: number): Promise<boolean> => {
  const ranges = (await client.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
  const { port } = client.options;
  return ranges.some(([first, last, [, owner]]) => first <= slot && slot <= last && owner === port);
};

/** All of its keys exist: if one is missing, the server answers before the script runs. */
async function nodeWithLease(nodeId: string, ttlMs: number): Promise<void> {
  await ledger.declare(nodeId, { slots: 2, isAccepting: true });
  await ledger.reserve(nodeId, 'job:1', ttlMs);
  await ledger.abandon(nodeId, 'job:1');
  expect(await connection.exists(keys.nodeLeaseMarks(nodeId), keys.nodeLeases(nodeId))).toBe(2);
}

describe('on a slot that moves', () => {
  it('the last lease of a node is released', async () => {
    await nodeWithLease('node-a', LONG_MS);
    const answer = await whileMoving(keys.nodeLeases('node-a'), async () =>
      ledger.release('node-a', 'job:1'),
    );
    expect(answer).toEqual({ kind: 'released', used: 0, max: 2 });
  });

  it('a live lease is committed', async () => {
    await nodeWithLease('node-g', LONG_MS);
    await ledger.reserve('node-g', 'live:1', LONG_MS);
    const answer = await whileMoving(keys.nodeLeases('node-g'), async () =>
      ledger.commit('node-g', 'live:1', LONG_MS),
    );
    expect(answer).toEqual({ kind: 'committed', used: 2, max: 2 });
  });

  it('the last live lease, which was abandoned, is committed late', async () => {
    await nodeWithLease('node-h', LONG_MS);
    const answer = await whileMoving(keys.nodeLeases('node-h'), async () =>
      ledger.commit('node-h', 'job:1', LONG_MS, true),
    );
    expect(answer).toEqual({ kind: 'committed', used: 1, max: 2 });
  });

  it('the last lease is reserved again after its expiry', async () => {
    await nodeWithLease('node-b', 1);
    await new Promise((resolve) => setTimeout(resolve, SHORT_MS));
    const answer = await whileMoving(keys.nodeLeases('node-b'), async () =>
      ledger.reserve('node-b', 'job:1', LONG_MS),
    );
    expect(answer).toEqual({ kind: 'reserved', used: 1, max: 2 });
  });

  it('the last lease is committed late after its expiry', async () => {
    await nodeWithLease('node-c', 1);
    await new Promise((resolve) => setTimeout(resolve, SHORT_MS));
    const answer = await whileMoving(keys.nodeLeases('node-c'), async () =>
      ledger.commit('node-c', 'job:1', LONG_MS, true),
    );
    expect(answer).toEqual({ kind: 'committed', used: 1, max: 2 });
  });

  it('a late commit of the last, expired lease waits for a replica', async () => {
    await nodeWithLease('node-d', 1);
    await new Promise((resolve) => setTimeout(resolve, SHORT_MS));
    const durable = createCapacityLedger({ connection: withReplica(connection, 400), keys });
    const answer = await whileMoving(keys.nodeLeases('node-d'), async () =>
      durable.commit('node-d', 'job:1', LONG_MS, true),
    );
    expect(answer).toEqual({ kind: 'committed', used: 1, max: 2 });
  });

  it('a lease that the report counted is reasserted and released', async () => {
    const nodeId = 'node-e';
    await nodeWithLease(nodeId, 1);
    await ledger.reserve(nodeId, 'live:1', LONG_MS);
    // Like a report that arrived while the lease was lost.
    await connection.hset(keys.nodeMeta(nodeId), 'reported', 2, 'released', 0);
    await new Promise((resolve) => setTimeout(resolve, SHORT_MS));
    await whileMoving(keys.nodeLeases(nodeId), async () => ledger.reassert(nodeId, 'lost:1', LONG_MS));
    await ledger.release(nodeId, 'lost:1');
    expect((await ledger.loads([nodeId])).get(nodeId)?.used).toBe(1);
  });

  it('all entries of a node are handed out once', async () => {
    const subscriber = connectRedis(redis.settings, { name: 'subscriber' });
    onTestFinished(() => subscriber.disconnect());
    const mailbox = createNodeMailbox<string>({ connection, subscriber, keys, clock, maxPerNode: 10 });
    await ledger.declare('node-f', { slots: 2, isAccepting: true });
    for (const lease of ['job:1', 'other:1']) await ledger.reserve('node-f', lease, LONG_MS);
    // All keys of the take exist.
    await ledger.abandon('node-f', 'other:1');
    const slot = { lease: 'job:1', ttlMs: LONG_MS };
    await mailbox.put('node-f', { jobId: 'job', expiresAt: clock.now() + LONG_MS, body: 'hello', slot });
    const taken = await whileMoving(keys.nodeMailbox('node-f'), () =>
      mailbox.take('node-f', { max: 4, waitMs: 0 }),
    );
    expect(taken).toMatchObject([{ jobId: 'job', body: 'hello' }]);
  });

  it('a new incarnation is announced, and the former stays dead', async () => {
    const instances = createInstances({ connection, keys });
    const former = { ...SELF, instanceId: 'i-2', incarnation: 'former' };
    await instances.announce(former, LONG_MS);
    await instances.leave(former);
    const next = { ...former, incarnation: 'next' };
    expect(await whileMoving(keys.presence('i-2'), () => instances.announce(next, LONG_MS))).toBe(
      'announced',
    );
    expect(await connection.exists(keys.presence('i-2'), keys.death('i-2'))).toBe(1);
    expect((await instances.renew(former, LONG_MS)).kind).toBe('lost');
  });

  it('an instance that leaves cannot renew itself', async () => {
    const instances = createInstances({ connection, keys });
    await instances.announce(SELF, LONG_MS);
    // While the hash slot moves, Redis may refuse a script whose two keys are on different servers: then the instance leaves after it.
    await whileMoving(keys.presence(SELF.instanceId), () => instances.leave(SELF).catch(() => undefined));
    await instances.leave(SELF);
    expect(await connection.exists(keys.presence(SELF.instanceId))).toBe(0);
    expect(await connection.exists(keys.death(SELF.instanceId))).toBe(1);
    expect((await instances.renew(SELF, LONG_MS)).kind).toBe('lost');
  });
});

describe('a script that names a foreign key', () => {
  it('is sent once more, then fails', async () => {
    const fault = new Error('ERR Script attempted to access a non local key in a cluster node');
    const sends = vi.fn().mockRejectedValue(fault);
    const connection = { evalsha: sends } as unknown as RedisConnection;
    const { release } = createCapacityLedger({ connection, keys });
    await expect(release('n', 'job:1')).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    expect(sends).toHaveBeenCalledTimes(2);
  });

  it('is not sent again by a process that was frozen', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const sends = vi.fn(async () => {
      vi.advanceTimersByTime(801);
      throw new Error('NOSCRIPT No matching script');
    });
    const connection = {
      evalsha: sends,
      eval: sends,
      options: { commandTimeout: 800 },
    } as unknown as RedisConnection;
    const { release } = createCapacityLedger({ connection, keys });
    await expect(release('n', 'job:1')).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    expect(sends).toHaveBeenCalledTimes(1);
  });
});
