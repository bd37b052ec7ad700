/** One Redis, its replica, and a Sentinel that watches them: real processes, which end with the test that started them. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
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
const PATIENT = { withinMs: 20_000 };

export interface SentinelUnderTest extends RedisUnderTest {
  readonly master: RedisServer;
  /** The port of whoever is master now, as the Sentinel says. */
  masterPort(): Promise<number>;
}

export async function startSentinel(): Promise<SentinelUnderTest> {
  const first = await startRedis();
  onTestFinished(() => first.stop());
  const master = first.servers[0] as RedisServer;
  const second = await startRedis([
    ...['--replicaof', HOST, String(master.port)],
    '--repl-diskless-sync-delay',
    '0',
  ]);
  onTestFinished(() => second.stop());
  const port = await freePort();
  await launch(port, master.port);
  const client = new Redis({ host: HOST, port, retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => {});
  onTestFinished(() => client.disconnect());

  const masterPort = async (): Promise<number> =>
    Number(((await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME)) as string[])[1]);
  // It can replace the master only by a replica that it has seen.
  await eventually(async () => {
    const replicas = (await client.call('SENTINEL', 'REPLICAS', MASTER_NAME)) as string[][];
    return replicas.some(
      (fields) => fieldOf(fields, 'flags') === 'slave' && fieldOf(fields, 'master-link-status') === 'ok',
    );
  }, PATIENT);
  return {
    settings: settingsFor({
      mode: 'sentinel',
      sentinelUrls: [`redis://${HOST}:${port}`],
      sentinelName: MASTER_NAME,
    }),
    servers: [master, ...second.servers],
    master,
    masterPort,
    stop: async () => undefined,
  };
}

const fieldOf = (fields: readonly string[], name: string): string | undefined =>
  fields[fields.indexOf(name) + 1];

async function launch(port: number, masterPort: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-'));
  const config = join(folder, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    `bind ${HOST}`,
    `dir ${folder}`,
    `sentinel monitor ${MASTER_NAME} ${HOST} ${masterPort} 1`,
    `sentinel down-after-milliseconds ${MASTER_NAME} 1000`,
    `sentinel failover-timeout ${MASTER_NAME} 3000`,
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  const child = spawn(serverProgram(), [config, '--sentinel'], { stdio: 'ignore' });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });
}
