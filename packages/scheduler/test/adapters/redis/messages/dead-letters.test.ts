/** Dead letters and the cluster page on real servers: remaining keys, faults between two steps, a frozen shard. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { createDeadLetters } from '../../../../src/adapters/redis/dead-letters.ts';
import { createInbox } from '../../../../src/adapters/redis/inbox.ts';
import { createInstanceFigures } from '../../../../src/adapters/redis/instance-figures.ts';
import { createInstances } from '../../../../src/adapters/redis/instances.ts';
import { createKeys } from '../../../../src/adapters/redis/keys.ts';
import { systemClock } from '../../../../src/adapters/system/clock.ts';
import { createClusterReader } from '../../../../src/cluster/operators/cluster-reader.ts';
import { MOST_ORPHANED } from '../../../../src/ports/dead-letters.ts';
import {
  type RedisUnderTest,
  SHORT_TIMEOUTS,
  startCluster,
  startRedis,
} from '../../../support/redis-servers.ts';
import { instanceNamed } from '../../../support/test-cluster.ts';

const START_MS = 60_000;
const LIMITS = { group: 'scheduler', maxMessages: 100, maxDeliveries: 1, maxDead: 100, maxDeadOfTenant: 100 };

function createWorld(connection: RedisConnection, limits: Partial<typeof LIMITS> = {}) {
  const keys = createKeys(`test-${randomUUID()}`);
  const inbox = createInbox({
    connection,
    blocking: () => connection,
    keys,
    ...LIMITS,
    ...limits,
  });
  return {
    keys,
    inbox,
    instances: createInstances({ connection, keys }),
    figures: createInstanceFigures({ connection, keys }),
    deadLetters: createDeadLetters({ connection, keys, inbox }),
    async die(instanceId: string, ...bodies: readonly string[]): Promise<void> {
      await inbox.open(instanceId);
      for (const body of bodies) await inbox.send(instanceId, body);
      await inbox.take(instanceId, { max: 100, waitMs: 0 });
      await sleep(2);
      await inbox.takeAgain(instanceId, { max: 100, idleMs: 1 });
    },
  };
}

describe('on one Redis', () => {
  let redis: RedisUnderTest;
  let connection: RedisConnection;

  beforeAll(async () => {
    redis = await startRedis();
    connection = connectRedis({ ...redis.settings, ...SHORT_TIMEOUTS }, { name: 'test' });
    await whenReady(connection, START_MS);
  }, START_MS);
  afterAll(async () => {
    connection?.disconnect();
    await redis?.stop();
  });

  it('no key is left after the last dead letter is replayed or purged', async () => {
    const { keys, deadLetters, die } = createWorld(connection);
    await die('a', 'replayed');
    await die('b', 'purged', 'purged too');
    const { letters } = await deadLetters.list('a', { max: 1 });
    await deadLetters.replay('a', letters[0]?.messageId ?? '', 'a');
    await deadLetters.purge('b', { max: 100 });
    for (const name of ['a', 'b'])
      expect(await connection.exists(keys.deadLetters(name), keys.deadLetterTenants(name))).toBe(0);
  });

  it('I11 bounded: keeps the tenants of no more dead letters than there are', async () => {
    const { keys, inbox } = createWorld(connection, { maxDead: 3, maxDeadOfTenant: 2 });
    await inbox.open('a');
    for (const tenantId of ['x', 'y', 'z', 'x', 'x', 'z']) {
      await inbox.send('a', 'letter');
      await inbox.take('a', { max: 1, waitMs: 0 });
      await sleep(2);
      await inbox.takeAgain('a', { max: 1, idleMs: 1, tenantOf: async () => tenantId });
    }
    const letters = await connection.xrange(keys.deadLetters('a'), '-', '+');
    const names = letters.map(([messageId, fields]) => `${fields[7]}\n${messageId}`);
    expect(names.map((name) => name[0])).toEqual(['x', 'x', 'z']);
    expect(await connection.zrange(keys.deadLetterTenants('a'), 0, '-1')).toEqual(names);
  });

  it('dead letters of an earlier version, without a tenant, are dropped and removed', async () => {
    const { keys, deadLetters, die } = createWorld(connection, { maxDead: 2, maxDeadOfTenant: 2 });
    for (const body of ['old', 'older', 'oldest'])
      await connection.xadd(keys.deadLetters('a'), '*', 'body', body, 'message', '1-1', 'deliveries', '10');
    await die('a', 'new');
    expect((await deadLetters.list('a', { max: 10 })).letters.map(({ head }) => head)).toEqual([
      'new',
      'oldest',
    ]);
    await deadLetters.purge('a', { max: 10 });
    expect(await connection.exists(keys.deadLetters('a'), keys.deadLetterTenants('a'))).toBe(0);
  });

  it('a replay that fails after its send can be repeated', async () => {
    const { keys, inbox, die } = createWorld(connection);
    await die('a', 'letter');
    let isBroken = false;
    const breaking = new Proxy(connection, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) =>
          isBroken ? Promise.reject(new Error('the connection is lost')) : value.apply(target, args);
      },
    });
    const deadLetters = createDeadLetters({
      connection: breaking,
      keys,
      inbox: {
        async send(to, body) {
          const result = await inbox.send(to, body);
          isBroken = true;
          return result;
        },
      },
    });
    const messageId = (await deadLetters.list('a', { max: 1 })).letters[0]?.messageId ?? '';
    await expect(deadLetters.replay('a', messageId, 'a')).rejects.toMatchObject({
      code: 'SCHEDULER_DEPENDENCY_DOWN',
    });
    isBroken = false;
    expect((await deadLetters.list('a', { max: 10 })).letters).toHaveLength(1);
    expect(await createDeadLetters({ connection, keys, inbox }).replay('a', messageId, 'a')).toBe('replayed');
    const arrived = await inbox.take('a', { max: 10, waitMs: 0 });
    expect(arrived.map(({ body }) => body)).toEqual(['letter', 'letter']);
    expect(await connection.exists(keys.deadLetters('a'))).toBe(0);
  });

  it('dead letters of a removed instance expire unless it returns', async () => {
    const { keys, deadLetters, die } = createWorld(connection);
    const lives = () =>
      Promise.all([keys.deadLetters('a'), keys.deadLetterTenants('a')].map((key) => connection.pttl(key)));
    await die('a', 'left');
    expect(await lives()).toEqual([-1, -1]);
    await deadLetters.orphan('a');
    for (const ttlMs of await lives()) expect(ttlMs).toBeGreaterThan(6 * 24 * 3_600_000);
    await die('a', 'another');
    expect(await lives()).toEqual([-1, -1]);
  });

  it('forgets removed instances whose dead letters have expired', async () => {
    const { keys, deadLetters, die } = createWorld(connection);
    await connection.zadd(keys.orphanedDeadLetters, Date.now() - 1, 'over', Date.now() + 60_000, 'kept');
    await die('a', 'x');
    await deadLetters.orphan('a');
    expect(await deadLetters.orphaned()).toEqual(['kept', 'a']);
  });

  it('I11 bounded: forgets the earliest removed instances at its limit', async () => {
    const { keys, deadLetters, die } = createWorld(connection);
    const soon = Date.now() + 3_600_000;
    for (let number = 0; number < MOST_ORPHANED; number += 1)
      void connection.zadd(keys.orphanedDeadLetters, soon + number, `old-${number}`);
    await die('a', 'x');
    await deadLetters.orphan('a');
    const names = await deadLetters.orphaned();
    expect(names).toHaveLength(MOST_ORPHANED);
    expect(names).toContain('a');
    expect(names).not.toContain('old-0');
    expect(names).toContain('old-1');
  });

  it('an entry of another program does not break the list', async () => {
    const { keys, deadLetters } = createWorld(connection);
    await connection.xadd(keys.deadLetters('a'), '*', 'foreign', 'entry');
    const { letters } = await deadLetters.list('a', { max: 10 });
    expect(letters).toMatchObject([{ deliveries: 0, bytes: 0, head: '' }]);
    expect(await deadLetters.get('a', letters[0]?.messageId ?? '')).toMatchObject({ body: '' });
  });

  it('figures that cannot be parsed are unknown', async () => {
    const { keys, figures } = createWorld(connection);
    await connection.set(keys.instanceFigures('a'), '1 2 x');
    expect(await figures.read('a')).toBeUndefined();
  });
});

describe('on a Cluster with a frozen master', () => {
  let redis: RedisUnderTest;
  let connection: RedisConnection;

  beforeAll(async () => {
    redis = await startCluster();
    connection = connectRedis({ ...redis.settings, ...SHORT_TIMEOUTS }, { name: 'test' });
    await whenReady(connection, START_MS);
  }, START_MS);
  afterAll(async () => {
    for (const server of redis?.servers ?? []) server.signal('SIGCONT');
    connection?.disconnect();
    await redis?.stop();
  });

  const portOf = (key: string): number => {
    const { slots } = connection as unknown as { slots: string[][] };
    return Number(slots[new Command('exists', [key]).getSlot()]?.[0]?.split(':')[1]);
  };

  it('the cluster page answers in time with the data of other shards', async () => {
    const world = createWorld(connection);
    const { keys, instances, figures } = world;
    const isAt = (instanceId: string, port: number) =>
      portOf(keys.inbox(instanceId)) === port && portOf(keys.presence(instanceId)) === port;
    const frozen = redis.servers.find(({ port }) => port !== portOf(keys.instances) && isMaster(port));
    // Names of many lengths: for names of one length the hash slots of two keys may never be equal.
    const names = Array.from({ length: 1_000 }, (_, number) => `i-${'x'.repeat(number % 50)}${number}`);
    const slow = names.find((name) => isAt(name, frozen?.port ?? 0)) ?? '';
    const well = names.find((name) => isAt(name, portOf(keys.instances))) ?? '';
    for (const name of [slow, well]) {
      await instances.announce(instanceNamed(name), 60_000);
      await figures.write(name, { nodes: 1, sessions: 2, jobs: 3 }, 60_000);
      await world.die(name, 'x');
    }
    const reader = createClusterReader({
      clock: systemClock,
      self: () => instanceNamed('self'),
      figures: () => ({ nodes: 0, sessions: 0, jobs: 0 }),
      store: () => ({ mode: 'cluster', isOk: true }),
      shared: world,
    });
    frozen?.signal('SIGSTOP');
    const view = await reader.read();
    frozen?.signal('SIGCONT');
    expect(view.instances.find(({ instanceId }) => instanceId === slow)).toMatchObject({
      state: 'unknown',
      figures: undefined,
      inbox: undefined,
    });
    expect(view.instances.find(({ instanceId }) => instanceId === well)).toMatchObject({
      state: 'living',
      figures: { nodes: 1, sessions: 2, jobs: 3 },
      inbox: { dead: 1 },
    });
  });

  function isMaster(port: number): boolean {
    const { slots } = connection as unknown as { slots: string[][] };
    return slots.some((servers) => Number(servers?.[0]?.split(':')[1]) === port);
  }
});
