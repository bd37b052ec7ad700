/** The start checks that its Redis user may publish and subscribe between instances; existing subscribers do not notice it. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { inspectRights } from '../../../../src/adapters/redis/connection/inspect-rights.ts';
import {
  connectRedis,
  type RedisSettings,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys } from '../../../../src/adapters/redis/keys.ts';
import { createNodeRecords } from '../../../../src/adapters/redis/node-records.ts';
import type { RecordVersion } from '../../../../src/ports/node-records.ts';
import {
  type RedisUnderTest,
  SHORT_TIMEOUTS,
  startCluster,
  startRedis,
  startRedisWithoutShardedChannels,
} from '../../../support/redis-servers.ts';

const START_MS = 60_000;
const keys = createKeys('rights');

async function connect(server: RedisSettings) {
  const settings = { ...server, ...SHORT_TIMEOUTS };
  const [connection, subscriber] = [
    connectRedis(settings, { name: 'asks' }),
    connectRedis(settings, { name: 'hears', isListening: true }),
  ];
  onTestFinished(() => {
    for (const each of [connection, subscriber]) each.disconnect();
  });
  await Promise.all([connection, subscriber].map((each) => whenReady(each, START_MS)));
  return { connection, subscriber };
}

describe.each([
  ['one Redis', startRedis],
  ['one Redis without sharded channels', startRedisWithoutShardedChannels],
  ['a Cluster', startCluster],
] as const)('%s', (_, start) => {
  let redis: RedisUnderTest;
  beforeAll(async () => {
    redis = await start();
  }, START_MS);
  afterAll(() => redis.stop());

  /** Each server has its own rights. */
  async function allow(...rights: string[]): Promise<RedisSettings> {
    for (const { port } of redis.servers) {
      const client = new Redis({ host: '127.0.0.1', port });
      await client.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>secret', '~*', '+@all', ...rights);
      client.disconnect();
    }
    return { ...redis.settings, username: 'app', password: 'secret' };
  }

  it('that allows it is accepted, and subscribers receive nothing', async () => {
    const parts = await connect(await allow('resetchannels', '&rights:*'));
    const received: RecordVersion[] = [];
    const nodeRecords = createNodeRecords({ ...parts, keys, forgetAfterMs: 60_000 });
    await nodeRecords.subscribe((notices) => received.push(...notices));
    await inspectRights({ ...(await connect(redis.settings)), keys, prefix: 'rights' });
    await inspectRights({ ...parts, keys, prefix: 'rights' });
    expect(received).toEqual([]);
  });

  it.each([
    ['commands', ['&*', '-@pubsub']],
    ['channels', ['resetchannels', '&others:*']],
  ])('that forbids its %s is refused with the command that fixes it', async (_what, rights) => {
    const parts = await connect(await allow(...rights));
    const refusal = inspectRights({ ...parts, keys, prefix: 'rights' });
    await expect(refusal).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    await expect(refusal).rejects.toThrow('ACL SETUSER app resetchannels &rights:* +@pubsub');
  });

  it('that does not answer is accepted', async () => {
    const parts = await connect(await allow('&*'));
    for (const server of redis.servers) server.signal('SIGSTOP');
    onTestFinished(() => {
      for (const server of redis.servers) server.signal('SIGCONT');
    });
    await inspectRights({ ...parts, keys, prefix: 'rights' });
  });
});
