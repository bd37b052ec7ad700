/** One Redis, its replica, and Sentinels that watch them: real processes, which end with the test that started them. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { onTestFinished } from 'vitest';
import { serverProgram } from '../../../../../proof/src/redis/redis-servers.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type RedisServer,
  type RedisUnderTest,
  settingsFor,
  startRedis,
} from '../../support/redis-servers.ts';
import { freePort } from './free-port.ts';

const HOST = '127.0.0.1';
const MASTER_NAME = 'mymaster';

export interface Sentinel {
  readonly port: number;
  signal(name: NodeJS.Signals): void;
}

export interface SentinelUnderTest extends RedisUnderTest {
  readonly master: RedisServer;
  readonly replica: RedisServer;
  readonly sentinels: readonly Sentinel[];
  /** The port of the current master, as the last Sentinel reports. */
  masterPort(): Promise<number>;
}

export interface SentinelOptions {
  readonly sentinels?: number;
  readonly downAfterMs?: number;
  readonly replicaFlags?: readonly string[];
}

export async function startSentinel({
  sentinels: count = 1,
  downAfterMs = 1_000,
  replicaFlags = [],
}: SentinelOptions = {}): Promise<SentinelUnderTest> {
  const master = await startServer([]);
  const replica = await startServer([
    ...['--replicaof', HOST, String(master.port), '--repl-diskless-sync-delay', '0'],
    ...replicaFlags,
  ]);
  const lines = [
    `sentinel monitor ${MASTER_NAME} ${HOST} ${master.port} ${Math.floor(count / 2) + 1}`,
    `sentinel down-after-milliseconds ${MASTER_NAME} ${downAfterMs}`,
    `sentinel failover-timeout ${MASTER_NAME} 3000`,
  ];
  const sentinels = await Promise.all(
    Array.from({ length: count }, async () => {
      const port = await freePort();
      return launchSentinel(port, [`port ${port}`, ...lines]);
    }),
  );
  const clients = await Promise.all(sentinels.map(({ port }) => whenWatching({ port }, count - 1)));
  return {
    settings: settingsFor({
      mode: 'sentinel',
      sentinelUrls: sentinels.map(({ port }) => `redis://${HOST}:${port}`),
      sentinelName: MASTER_NAME,
    }),
    servers: [master, replica],
    master,
    replica,
    sentinels,
    masterPort: () => masterPortOf(clients.at(-1) as Redis),
    stop: async () => undefined,
  };
}

async function startServer(flags: readonly string[]): Promise<RedisServer> {
  const redis = await startRedis(flags);
  onTestFinished(() => redis.stop());
  return redis.servers[0] as RedisServer;
}

export async function launchSentinel(port: number, lines: readonly string[]): Promise<Sentinel> {
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-'));
  const config = join(folder, 'sentinel.conf');
  await writeFile(config, `${[`bind ${HOST}`, `dir ${folder}`, ...lines].join('\n')}\n`);
  const child = spawn(serverProgram(), [config, '--sentinel'], { stdio: 'ignore' });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });
  return { port, signal: (name) => void child.kill(name) };
}

type SentinelClient = Pick<RedisOptions, 'tls' | 'username' | 'password'> & { readonly port: number };

/** A connection to a Sentinel that could replace the master: it knows the replica and the other Sentinels. */
export async function whenWatching(options: SentinelClient, others = 0): Promise<Redis> {
  const client = new Redis({ ...options, host: HOST, retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => {});
  onTestFinished(() => client.disconnect());
  await eventually(async () => {
    const replicas = (await client.call('SENTINEL', 'REPLICAS', MASTER_NAME)) as string[][];
    const master = (await client.call('SENTINEL', 'MASTER', MASTER_NAME)) as string[];
    return (
      Number(fieldOf(master, 'num-other-sentinels')) === others &&
      replicas.some(
        (fields) => fieldOf(fields, 'flags') === 'slave' && fieldOf(fields, 'master-link-status') === 'ok',
      )
    );
  });
  return client;
}

export const masterPortOf = async (client: Redis): Promise<number> =>
  Number(((await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME)) as string[])[1]);

const fieldOf = (fields: readonly string[], name: string): string | undefined =>
  fields[fields.indexOf(name) + 1];
