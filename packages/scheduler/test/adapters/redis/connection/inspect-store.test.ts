/** The start inspects Redis: settings that would lose data refuse it, others give a warning with a remedy. */
import { type Cluster, Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { inspectStore } from '../../../../src/adapters/redis/connection/inspect-store.ts';
import {
  connectRedis,
  type RedisSettings,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { startSentinel } from '../../../e2e/redis/start-sentinel.ts';
import { eventually } from '../../../support/eventually.ts';
import {
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

async function inspect(
  { settings }: Pick<RedisUnderTest, 'settings'>,
  more: Partial<RedisSettings> = {},
  durability: 'primary' | 'replica' = 'primary',
) {
  const connection = connectRedis({ ...settings, ...SHORT_TIMEOUTS, ...more }, { name: 'inspector' });
  try {
    await whenReady(connection, START_MS);
    return await inspectStore(connection, { durability });
  } finally {
    connection.disconnect();
  }
}

async function start(flags: readonly string[] = []): Promise<RedisUnderTest> {
  const redis = await startRedis(flags);
  closing.push(() => redis.stop());
  return redis;
}

const portOf = ({ servers }: RedisUnderTest): number => servers[0]?.port ?? 0;

async function report(redis: RedisUnderTest, ...command: [string, ...string[]]): Promise<void> {
  const client = new Redis({ host: '127.0.0.1', port: portOf(redis) });
  const [name, ...args] = command;
  await client.call(name, ...args);
  client.disconnect();
}

describe('one Redis', () => {
  it.each(['allkeys-lru', 'volatile-ttl', 'allkeys-random'])(
    'that evicts by %s is refused with the command that fixes it',
    async (policy) => {
      const redis = await start(['--maxmemory-policy', policy]);
      const name = `127.0.0.1:${portOf(redis)}`;
      const refusal = inspect(redis);
      await expect(refusal).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
      await expect(refusal).rejects.toThrow(`Redis ${name} has maxmemory-policy ${policy}`);
      await expect(refusal).rejects.toThrow(
        `redis-cli -h 127.0.0.1 -p ${portOf(redis)} CONFIG SET maxmemory-policy noeviction`,
      );
      await report(redis, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      expect(await inspect(redis)).toBeInstanceOf(Array);
    },
  );

  it('without a replica and append-only file gives warnings', async () => {
    const redis = await start();
    const warnings = await inspect(redis);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/has no replica: .*REPLICAOF/);
    expect(warnings[1]).toMatch(/append-only file: .*CONFIG SET appendonly yes/);
  });

  it('with both gives no warning', async () => {
    const redis = await start(['--appendonly', 'yes']);
    const replica = await start();
    await report(replica, 'REPLICAOF', '127.0.0.1', String(portOf(redis)));
    await eventually(async () => expect(await inspect(redis)).toEqual([]));
  });

  it('without a replica gives a warning for durability = "replica"', async () => {
    const redis = await start(['--appendonly', 'yes']);
    expect(await inspect(redis, {}, 'replica')).toEqual([
      expect.stringMatching(/has no replica, but scheduler\.cluster\.durability = "replica"/),
    ]);
  });

  it('that is a replica itself is refused', async () => {
    const [master, replica] = [await start(), await start()];
    await report(replica, 'REPLICAOF', '127.0.0.1', String(portOf(master)));
    await expect(inspect(replica)).rejects.toThrow(/is a replica and takes no writes/);
  });

  it('whose replica evicts is refused', async () => {
    const redis = await start(['--appendonly', 'yes']);
    const replica = await start(['--maxmemory-policy', 'allkeys-lru']);
    await report(replica, 'REPLICAOF', '127.0.0.1', String(portOf(redis)));
    const reported = `Redis replica 127.0.0.1:${portOf(replica)} has maxmemory-policy allkeys-lru`;
    await eventually(() => expect(inspect(redis)).rejects.toThrow(reported));
    await expect(inspect(redis)).rejects.toThrow(
      `-p ${portOf(replica)} CONFIG SET maxmemory-policy noeviction`,
    );
    await report(replica, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    expect(await inspect(redis)).toEqual([]);
  });

  it('whose replica cannot be inspected gives a warning with the reason', async () => {
    const redis = await start(['--appendonly', 'yes']);
    const replica = await start(['--replica-announce-port', '1']);
    await report(replica, 'REPLICAOF', '127.0.0.1', String(portOf(redis)));
    await eventually(async () =>
      expect(await inspect(redis)).toEqual([
        expect.stringMatching(
          /^Redis replica 127\.0\.0\.1:1 could not be inspected \(.*ECONNREFUSED.*\): .*noeviction/,
        ),
      ]),
    );
  });

  it('whose replica does not answer or refuses the user gives a warning', async () => {
    const redis = await start(['--appendonly', 'yes']);
    const replica = await start();
    await report(replica, 'REPLICAOF', '127.0.0.1', String(portOf(redis)));
    await eventually(async () => expect(await inspect(redis)).toEqual([]));
    await report(redis, 'ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all');
    expect(await inspect(redis, { username: 'app', password: 'secret' })).toEqual([
      expect.stringMatching(/could not be inspected \(WRONGPASS/),
    ]);
    replica.servers[0]?.signal('SIGSTOP');
    expect(await inspect(redis)).toEqual([
      expect.stringMatching(/could not be inspected \(Command timed out\)/),
    ]);
    replica.servers[0]?.signal('SIGCONT');
  });

  it('that is part of a Cluster is refused in mode single', async () => {
    const redis = await start(['--cluster-enabled', 'yes']);
    await expect(inspect(redis)).rejects.toThrow('scheduler.cluster.redis.mode = "cluster"');
  });

  it('without CONFIG is inspected by INFO', async () => {
    const evicting = await start(['--rename-command', 'CONFIG', '', '--maxmemory-policy', 'allkeys-lru']);
    await expect(inspect(evicting)).rejects.toThrow(/maxmemory-policy allkeys-lru/);
    const sound = await start(['--rename-command', 'CONFIG', '']);
    const warnings = await inspect(sound);
    expect(warnings).toHaveLength(2);
    expect(warnings.join()).not.toMatch(/does not let/);
  });

  it('without INFO is inspected by CONFIG, with warnings for the rest', async () => {
    const redis = await start(['--maxmemory-policy', 'allkeys-lru']);
    await report(redis, 'ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-info');
    const user = { username: 'app', password: 'secret' };
    await expect(inspect(redis, user)).rejects.toThrow(/maxmemory-policy allkeys-lru/);
    await report(redis, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    const warnings = await inspect(redis, user);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/append-only file/);
    expect(warnings[1]).toMatch(/does not let this user see its replicas .*, its version .*\+info/);
  });

  it('that reports nothing is used with a warning', async () => {
    const redis = await start(['--maxmemory-policy', 'allkeys-lru']);
    await report(redis, 'ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-@dangerous');
    const warnings = await inspect(redis, { username: 'app', password: 'secret' });
    expect(warnings).toEqual([expect.stringMatching(/does not let this user see maxmemory-policy/)]);
  });

  it('that does not answer is a fault, not a warning', async () => {
    const redis = await start();
    const connection = connectRedis({ ...redis.settings, ...SHORT_TIMEOUTS }, { name: 'inspector' });
    closing.push(() => connection.disconnect());
    await whenReady(connection, START_MS);
    redis.servers[0]?.signal('SIGSTOP');
    await expect(inspectStore(connection, { durability: 'primary' })).rejects.toMatchObject({
      code: 'SCHEDULER_DEPENDENCY_DOWN',
      cause: expect.any(Error),
    });
    redis.servers[0]?.signal('SIGCONT');
  });

  it('of a version before 6.2 gives a warning', async () => {
    const redis = await start(['--appendonly', 'yes']);
    const connection = connectRedis({ ...redis.settings, ...SHORT_TIMEOUTS }, { name: 'inspector' });
    closing.push(() => connection.disconnect());
    await whenReady(connection, START_MS);
    for (const [version, isOld] of [
      ['6.0.16', true],
      ['5.0.7', true],
      ['6.2.0', false],
      ['7.2.4', false],
      ['10.0.0', false],
    ] as const) {
      const older = Object.create(connection, {
        info: {
          value: async () =>
            (await connection.info()).replace(/redis_version:.*\r/, `redis_version:${version}\r`),
        },
      }) as typeof connection;
      const warnings = await inspectStore(older, { durability: 'primary' });
      expect(warnings.some((text) => text.includes(`version ${version}; use 6.2`))).toBe(isOld);
    }
  });
});

describe('a Cluster', () => {
  it('is inspected at every master and replica', async () => {
    const redis = await startCluster();
    closing.push(() => redis.stop());
    const connection = connectRedis(
      { ...redis.settings, ...SHORT_TIMEOUTS },
      { name: 'inspector' },
    ) as Cluster;
    closing.push(() => connection.disconnect());
    await whenReady(connection, START_MS);
    const look = () => inspectStore(connection, { durability: 'replica' });
    const [first, second] = connection.nodes('master') as [Redis, Redis];

    expect(await look()).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/append-only file/)));

    await first.config('SET', 'cluster-require-full-coverage', 'yes');
    const warnings = (await look()).filter((text) => text.includes('cluster-require-full-coverage'));
    expect(warnings).toEqual([expect.stringContaining(`:${first.options.port} has cluster-require`)]);

    const victim = redis.servers.find(({ port }) => port === first.options.port);
    victim?.signal('SIGSTOP');
    expect((await look())[0]).toContain(`:${first.options.port} does not answer`);
    victim?.signal('SIGCONT');

    const port = redis.servers.at(-1)?.port ?? 0;
    const replica = new Redis({ port });
    closing.push(() => replica.disconnect());
    await replica.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await expect(look()).rejects.toThrow(`replica 127.0.0.1:${port} has maxmemory-policy allkeys-lru`);
    await replica.config('SET', 'maxmemory-policy', 'noeviction');

    await second.config('SET', 'maxmemory-policy', 'volatile-lru');
    await expect(look()).rejects.toThrow(`:${second.options.port} has maxmemory-policy volatile-lru`);
  });
});

it('behind Sentinels the replica is inspected as well', async () => {
  const redis = await startSentinel({ replicaFlags: ['--maxmemory-policy', 'allkeys-lru'] });
  await expect(inspect(redis)).rejects.toThrow(
    `replica 127.0.0.1:${redis.replica.port} has maxmemory-policy`,
  );
});
