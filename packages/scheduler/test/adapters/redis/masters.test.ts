/** A master that is replaced or comes back: whoever holds state is told which keys are affected, and when all of the store answers again. */
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { type MastersWatch, watchMasters } from '../../../src/adapters/redis/connection/failover-watch.ts';
import {
  connectRedis,
  type RedisConnection,
  type RedisSettings,
  whenReady,
} from '../../../src/adapters/redis/connection/redis-connection.ts';
import { slotOf } from '../../../src/adapters/redis/connection/servers.ts';
import { times } from '../../contracts/harness.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type RedisServer,
  type RedisUnderTest,
  SHORT_TIMEOUTS,
  startCluster,
  startRedis,
} from '../../support/redis-servers.ts';

const START_MS = 60_000;
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Keys of every shard. */
const KEYS = times(100, (index) => `key ${index}`);

async function watch(redis: RedisUnderTest, more: Partial<RedisSettings> = {}) {
  closing.push(() => redis.stop());
  const connection = connectRedis({ ...redis.settings, ...SHORT_TIMEOUTS, ...more }, { name: 'watched' });
  closing.push(() => connection.disconnect());
  await whenReady(connection, START_MS);
  const heard = { affected: [] as string[][], returned: 0, order: [] as string[] };
  const watching = watchMasters(connection, {
    changed(isAffected) {
      heard.affected.push(KEYS.filter(isAffected));
      heard.order.push('changed');
    },
    returned() {
      heard.returned += 1;
      heard.order.push('returned');
    },
  });
  closing.push(() => watching.close());
  await rounds(redis, connection, watching);
  return { connection, watching, heard };
}

/** Until the watch has asked every master at least once more, so that it has nothing left to say. */
async function rounds(redis: RedisUnderTest, connection: RedisConnection, watching: MastersWatch) {
  const asked = async () => {
    const masters =
      redis.settings.mode === 'cluster'
        ? (connection as never as { nodes(role: string): Redis[] }).nodes('master')
        : [connection as Redis];
    const counts = await Promise.all(masters.map((server) => server.info('commandstats')));
    return counts.map((text) => Number(/cmdstat_info:calls=(\d+)/.exec(text)?.[1] ?? 0));
  };
  const before = await asked();
  await eventually(async () => {
    const now = await asked();
    // Asking this counts too: once at the beginning, and once per try.
    return watching.isWell() && now.every((count, index) => count > (before[index] ?? 0) + 2);
  });
}

const ownServer = ({ servers }: RedisUnderTest): RedisServer => servers[0] as RedisServer;

describe('the watch on one Redis', () => {
  it('says nothing while nothing happens', async () => {
    const redis = await startRedis();
    const { connection, watching, heard } = await watch(redis);
    await rounds(redis, connection, watching);
    expect(heard).toEqual({ affected: [], returned: 0, order: [] });
  });

  it.each([
    ['without persistence', []],
    ['with an append-only file', ['--appendonly', 'yes']],
  ])('tells of a restart %s: every key is affected, and it is back', async (_, flags) => {
    const redis = await startRedis(flags);
    const { heard, watching } = await watch(redis);
    await ownServer(redis).restart();
    await eventually(() => heard.returned === 1);
    expect(heard.affected).toEqual([KEYS]);
    expect(heard.order).toEqual(['changed', 'returned']);
    expect(watching.isWell()).toBe(true);
  });

  it('tells nothing of a change when only the connection was lost', async () => {
    const redis = await startRedis();
    const { connection, watching, heard } = await watch(redis);
    (connection as Redis).disconnect(true);
    await eventually(() => heard.returned === 1);
    await rounds(redis, connection, watching);
    expect(heard.affected).toEqual([]);
  });

  it('tells when a server that was frozen answers again', async () => {
    const redis = await startRedis();
    const { watching, heard } = await watch(redis);
    ownServer(redis).signal('SIGSTOP');
    await eventually(() => !watching.isWell());
    ownServer(redis).signal('SIGCONT');
    await eventually(() => heard.returned === 1);
    expect(heard.affected).toEqual([]);
    expect(watching.isWell()).toBe(true);
  });

  it('takes every new connection for a change where the server may not say who it is', async () => {
    const redis = await startRedis();
    const admin = new Redis({ host: '127.0.0.1', port: ownServer(redis).port });
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-info');
    closing.push(() => admin.disconnect());
    closing.push(() => redis.stop());
    const connection = connectRedis(
      { ...redis.settings, ...SHORT_TIMEOUTS, username: 'app', password: 'secret' },
      { name: 'watched' },
    );
    closing.push(() => connection.disconnect());
    await whenReady(connection, START_MS);
    let changes = 0;
    let returns = 0;
    const watching = watchMasters(
      connection,
      {
        changed: () => {
          changes += 1;
        },
        returned: () => {
          returns += 1;
        },
      },
      { readMs: 50, checkMs: 10 },
    );
    closing.push(() => watching.close());
    const refusals = async () =>
      Number(/cmdstat_info:.*rejected_calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0);
    await eventually(async () => (await refusals()) > 5);
    expect(changes).toBe(0);
    (connection as Redis).disconnect(true);
    await eventually(() => returns === 1);
    expect(changes).toBe(1);
  });

  it('says nothing more once it is closed', async () => {
    const redis = await startRedis();
    const { connection, watching, heard } = await watch(redis);
    watching.close();
    await ownServer(redis).restart();
    await eventually(() => (connection as Redis).ping().catch(() => undefined));
    expect(heard).toEqual({ affected: [], returned: 0, order: [] });
    expect(connection.listenerCount('refresh')).toBe(0);
  });
});

describe('the watch on a Cluster', () => {
  const mastersBySlot = (connection: RedisConnection) =>
    (connection as unknown as { slots: string[][] }).slots;
  const keysOf = (connection: RedisConnection, { port }: RedisServer) =>
    KEYS.filter((key) => mastersBySlot(connection)[slotOf(key)]?.[0] === `127.0.0.1:${port}`);

  it('tells of a failover after kill -9: the keys of that master, and no other', async () => {
    const redis = await startCluster();
    const { connection, watching, heard } = await watch(redis);
    const victim = redis.servers[1] as RedisServer;
    const expected = keysOf(connection, victim);
    expect(expected.length).toBeGreaterThan(10);
    victim.signal('SIGKILL');
    await eventually(() => !watching.isWell());
    await eventually(() => heard.returned === 1);
    expect(heard.affected).toEqual([expected]);
    expect(heard.order).toEqual(['changed', 'returned']);
    expect(keysOf(connection, victim)).toEqual([]);
  });

  it('tells of a master that came back empty before anybody took its place', async () => {
    const redis = await startCluster();
    const { connection, heard } = await watch(redis);
    const victim = redis.servers[2] as RedisServer;
    const expected = keysOf(connection, victim);
    await victim.restart();
    await eventually(() => heard.affected.length > 0 && heard.returned > 0);
    expect(heard.affected[0]).toEqual(expected);
    for (const affected of heard.affected) expect(affected).toEqual(expected);
  });

  it('does not keep a Cluster from being ready again that lost all its connections at once', async () => {
    const redis = await startCluster();
    const { connection, heard } = await watch(redis);
    const { nodes } = connection as unknown as { nodes(role: string): Redis[] };
    let closed = 0;
    connection.on('close', () => {
      closed += 1;
    });
    for (const server of nodes.call(connection, 'all')) server.disconnect();
    await eventually(() => heard.returned === 1);
    expect(connection.status).toBe('ready');
    expect(heard.affected).toEqual([]);
    expect(closed).toBeGreaterThan(0);
  });
});
