/** A master that is replaced or restarted: the watch reports the affected keys, and when the whole store answers again. */
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { type MastersWatch, watchMasters } from '../../../../src/adapters/redis/connection/failover-watch.ts';
import {
  connectRedis,
  type RedisConnection,
  type RedisSettings,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { slotOf } from '../../../../src/adapters/redis/connection/servers.ts';
import { times } from '../../../contracts/harness.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  type RedisServer,
  type RedisUnderTest,
  SHORT_TIMEOUTS,
  startCluster,
  startRedis,
} from '../../../support/redis-servers.ts';

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
  const events = { affected: [] as string[][], returned: 0, order: [] as string[] };
  const watching = watchMasters(connection, {
    changed(isAffected) {
      events.affected.push(KEYS.filter(isAffected));
      events.order.push('changed');
    },
    returned() {
      events.returned += 1;
      events.order.push('returned');
    },
  });
  closing.push(() => watching.close());
  await passes(redis, connection, watching);
  return { connection, watching, events };
}

/** Until the watch has checked every master at least once more, so that no event is pending. */
async function passes(redis: RedisUnderTest, connection: RedisConnection, watching: MastersWatch) {
  const checks = async () => {
    const masters =
      redis.settings.mode === 'cluster'
        ? (connection as never as { nodes(role: string): Redis[] }).nodes('master')
        : [connection as Redis];
    const counts = await Promise.all(masters.map((server) => server.info('commandstats')));
    return counts.map((text) => Number(/cmdstat_info:calls=(\d+)/.exec(text)?.[1] ?? 0));
  };
  const before = await checks();
  await eventually(async () => {
    const now = await checks();
    // This query counts as well: once at the beginning, and once per try.
    return watching.isWell() && now.every((count, index) => count > (before[index] ?? 0) + 2);
  });
}

const ownServer = ({ servers }: RedisUnderTest): RedisServer => servers[0] as RedisServer;

describe('the watch on one Redis', () => {
  it('emits no event without a change', async () => {
    const redis = await startRedis();
    const { connection, watching, events } = await watch(redis);
    await passes(redis, connection, watching);
    expect(events).toEqual({ affected: [], returned: 0, order: [] });
  });

  it.each([
    ['without persistence', []],
    ['with an append-only file', ['--appendonly', 'yes']],
  ])('reports a restart %s: every key is affected', async (_, flags) => {
    const redis = await startRedis(flags);
    const { events, watching } = await watch(redis);
    await ownServer(redis).restart();
    await eventually(() => events.returned === 1);
    expect(events.affected).toEqual([KEYS]);
    expect(events.order).toEqual(['changed', 'returned']);
    expect(watching.isWell()).toBe(true);
  });

  it('emits no change when only the connection was lost', async () => {
    const redis = await startRedis();
    const { connection, watching, events } = await watch(redis);
    (connection as Redis).disconnect(true);
    await eventually(() => events.returned === 1);
    await passes(redis, connection, watching);
    expect(events.affected).toEqual([]);
  });

  it('reports that a frozen server answers again', async () => {
    const redis = await startRedis();
    const { watching, events } = await watch(redis);
    ownServer(redis).signal('SIGSTOP');
    await eventually(() => !watching.isWell());
    ownServer(redis).signal('SIGCONT');
    await eventually(() => events.returned === 1);
    expect(events.affected).toEqual([]);
    expect(watching.isWell()).toBe(true);
  });

  it('counts every new connection as a change if the run id is forbidden', async () => {
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

  it('emits no event after close', async () => {
    const redis = await startRedis();
    const { connection, watching, events } = await watch(redis);
    watching.close();
    await ownServer(redis).restart();
    await eventually(() => (connection as Redis).ping().catch(() => undefined));
    expect(events).toEqual({ affected: [], returned: 0, order: [] });
    expect(connection.listenerCount('refresh')).toBe(0);
  });
});

describe('the watch on a Cluster', () => {
  const mastersBySlot = (connection: RedisConnection) =>
    (connection as unknown as { slots: string[][] }).slots;
  const keysOf = (connection: RedisConnection, { port }: RedisServer) =>
    KEYS.filter((key) => mastersBySlot(connection)[slotOf(key)]?.[0] === `127.0.0.1:${port}`);

  it('reports the keys of the failed-over master and no others', async () => {
    const redis = await startCluster();
    const { connection, watching, events } = await watch(redis);
    const victim = redis.servers[1] as RedisServer;
    const expected = keysOf(connection, victim);
    expect(expected.length).toBeGreaterThan(10);
    victim.signal('SIGKILL');
    await eventually(() => !watching.isWell());
    await eventually(() => events.returned === 1);
    expect(events.affected).toEqual([expected]);
    expect(events.order).toEqual(['changed', 'returned']);
    expect(keysOf(connection, victim)).toEqual([]);
  });

  it('reports a master that restarted empty before a failover', async () => {
    const redis = await startCluster();
    const { connection, events } = await watch(redis);
    const victim = redis.servers[2] as RedisServer;
    const expected = keysOf(connection, victim);
    await victim.restart();
    await eventually(() => events.affected.length > 0 && events.returned > 0);
    expect(events.affected[0]).toEqual(expected);
    for (const affected of events.affected) expect(affected).toEqual(expected);
  });

  it('a Cluster that lost all connections becomes ready again', async () => {
    const redis = await startCluster();
    const { connection, events } = await watch(redis);
    const { nodes } = connection as unknown as { nodes(role: string): Redis[] };
    let closed = 0;
    connection.on('close', () => {
      closed += 1;
    });
    for (const server of nodes.call(connection, 'all')) server.disconnect();
    await eventually(() => events.returned === 1);
    expect(connection.status).toBe('ready');
    expect(events.affected).toEqual([]);
    expect(closed).toBeGreaterThan(0);
  });
});
