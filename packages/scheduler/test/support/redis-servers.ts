/** Real redis-server processes for tests, and how an adapter reaches them. */
import { Redis } from 'ioredis';
import {
  type RedisServer,
  startRedisCluster,
  startRedisServer,
} from '../../../../proof/src/redis/redis-servers.ts';
import type { RedisSettings } from '../../src/adapters/redis/connection/redis-connection.ts';

export type { RedisServer };

export interface RedisUnderTest {
  readonly settings: RedisSettings;
  readonly servers: readonly RedisServer[];
  stop(): Promise<void>;
}

const urlOf = ({ port }: RedisServer): string => `redis://127.0.0.1:${port}`;

/** Long timeouts for a busy machine; tests of a server that does not answer use others. */
const PATIENT_TIMEOUTS = { connectTimeoutMs: 10_000, commandTimeoutMs: 10_000, socketTimeoutMs: 20_000 };

/** The product's defaults, for tests in which a server does not answer. */
export const SHORT_TIMEOUTS = { connectTimeoutMs: 2_000, commandTimeoutMs: 800, socketTimeoutMs: 2_500 };

export const settingsFor = (more: Partial<RedisSettings>): RedisSettings => ({
  mode: 'single',
  url: 'redis://127.0.0.1:6379',
  clusterUrls: [],
  sentinelUrls: [],
  sentinelName: 'mymaster',
  db: 0,
  isTls: false,
  ...PATIENT_TIMEOUTS,
  slotsRefreshIntervalMs: 1_000,
  ...more,
});

export async function startRedis(flags: readonly string[] = []): Promise<RedisUnderTest> {
  const server = await startRedisServer(flags);
  return { settings: settingsFor({ url: urlOf(server) }), servers: [server], stop: () => server.stop() };
}

/** Like a server before version 7, without sharded channels. A server that old refuses to rename unknown commands. */
export async function startRedisWithoutShardedChannels(): Promise<RedisUnderTest> {
  const plain = await startRedis();
  if (!(await hasShardedChannels(plain))) return plain;
  await plain.stop();
  return startRedis(['SSUBSCRIBE', 'SPUBLISH'].flatMap((command) => ['--rename-command', command, '']));
}

async function hasShardedChannels({ servers }: RedisUnderTest): Promise<boolean> {
  const client = new Redis({ host: '127.0.0.1', port: servers[0]?.port ?? 0 });
  const [known] = (await client.call('COMMAND', 'INFO', 'SPUBLISH')) as unknown[];
  client.disconnect();
  return known !== null && known !== undefined;
}

export async function startCluster(): Promise<RedisUnderTest> {
  const { servers, stop } = await startRedisCluster();
  return { settings: settingsFor({ mode: 'cluster', clusterUrls: servers.map(urlOf) }), servers, stop };
}
