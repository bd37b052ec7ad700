/** Real redis-server processes for tests and proofs: one alone, or a Cluster of three masters and three replicas. Ports are free ones. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

export interface RedisServer {
  readonly port: number;
  readonly pid: number;
  signal(name: NodeJS.Signals): void;
  /** Killed and started again, on its port and with the files it has. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface RedisCluster {
  readonly servers: readonly RedisServer[];
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
/** Another one, or another version, is tried by naming its program. */
export const serverProgram = (): string => process.env.REDIS_SERVER || 'redis-server';
const CLUSTER_NODE_TIMEOUT_MS = 2_000;

export async function startRedisCluster(): Promise<RedisCluster> {
  const flags = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(CLUSTER_NODE_TIMEOUT_MS)];
  // Otherwise every shard refuses to serve while one of them has no master.
  flags.push('--cluster-require-full-coverage', 'no');
  // Replicas are there to take over at once, not to be waited for in case more of them come.
  flags.push('--repl-diskless-sync-delay', '0');
  const servers = await Promise.all(Array.from({ length: 6 }, () => startRedisServer(flags)));
  await join3Masters(servers);
  return {
    servers,
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** A process that is interrupted has no time to stop its servers. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Another process may take a port between finding it free and listening on it: try again. */
export async function startRedisServer(flags: readonly string[] = [], triesLeft = 5): Promise<RedisServer> {
  try {
    return await tryServer(flags);
  } catch (fault) {
    if (triesLeft <= 1) throw fault;
    return startRedisServer(flags, triesLeft - 1);
  }
}

async function tryServer(flags: readonly string[]): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), 'redis-'));
  // The bus of a Cluster listens 10,000 above.
  const port = await freePort();
  const args = ['--port', String(port), '--bind', HOST, '--dir', directory, '--save', '', ...flags];
  const removeFiles = () => rmSync(directory, { recursive: true, force: true });
  let child = await launch(port, args).catch((fault: unknown) => {
    removeFiles();
    throw fault;
  });
  return {
    port,
    get pid() {
      return child.pid ?? 0;
    },
    signal: (name) => void child.kill(name),
    async restart() {
      await kill(child);
      child = await launch(port, args);
    },
    async stop() {
      await kill(child);
      removeFiles();
    },
  };
}

async function launch(port: number, args: readonly string[]): Promise<ChildProcess> {
  const program = serverProgram();
  const child = spawn(program, args, { stdio: 'ignore' });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let fault: Error | undefined;
  child.once('error', (cause) => {
    fault = new Error(whyNotStarted(program), { cause });
  });
  child.once('exit', (code) => {
    fault ??= new Error(`${program} ended with ${code}`);
  });
  await answering(port, () => {
    if (fault === undefined) return child.pid ?? 0;
    throw fault;
  });
  return child;
}

const whyNotStarted = (program: string): string =>
  process.env.REDIS_SERVER
    ? `REDIS_SERVER names ${program}, which could not be started`
    : 'redis-server could not be started: is it installed?';

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}

const HIGHEST_PORT_WITH_BUS = 55_000;

async function freePort(): Promise<number> {
  for (;;) {
    const port = await new Promise<number>((resolve, reject) => {
      const probe = createServer();
      probe.once('error', reject);
      probe.listen(0, HOST, () => {
        const address = probe.address();
        probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
      });
    });
    if (port > 0 && port <= HIGHEST_PORT_WITH_BUS) return port;
  }
}

/** Until the very process answers: who has the port may be another. */
async function answering(port: number, livingPid: () => number): Promise<void> {
  for (;;) {
    const pid = livingPid();
    const info = await withClient(port, (client) => client.info('server').catch(() => ''), { retries: 0 });
    if (info.includes(`process_id:${pid}\r`)) return;
    await pause(20);
  }
}

async function withClient<T>(
  port: number,
  use: (client: Redis) => Promise<T>,
  { retries = null }: { retries?: number | null } = {},
): Promise<T> {
  const client = new Redis({ host: HOST, port, retryStrategy: () => 20, maxRetriesPerRequest: retries });
  client.on('error', () => {});
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const SLOTS = 16_384;

async function join3Masters(servers: readonly RedisServer[]): Promise<void> {
  const [masters, replicas] = [servers.slice(0, 3), servers.slice(3)];
  const first = masters[0]?.port ?? 0;
  const ids = new Map<number, string>();
  for (const [index, { port }] of servers.entries()) {
    await withClient(port, async (client) => {
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
      ids.set(port, String(await client.call('CLUSTER', 'MYID')));
      if (port !== first) await client.call('CLUSTER', 'MEET', HOST, first);
    });
  }
  for (const [index, { port }] of masters.entries()) {
    const [from, to] = [Math.floor((SLOTS * index) / 3), Math.floor((SLOTS * (index + 1)) / 3) - 1];
    // Not by range, which servers before version 7 do not understand.
    const slots = Array.from({ length: to - from + 1 }, (_, at) => from + at);
    await withClient(port, (client) => client.call('CLUSTER', 'ADDSLOTS', ...slots));
  }
  for (const [index, { port }] of replicas.entries()) {
    await withClient(port, (client) => replicate(client, ids.get(masters[index]?.port ?? 0) ?? ''));
  }
  await Promise.all(servers.map(({ port }) => withClient(port, isWhole)));
  await Promise.all(replicas.map(({ port }) => withClient(port, isInSync)));
}

/** The master must be known by hints first. */
async function replicate(client: Redis, masterId: string): Promise<void> {
  for (;;) {
    const done = await client.call('CLUSTER', 'REPLICATE', masterId).catch(() => undefined);
    if (done === 'OK') return;
    await pause(20);
  }
}

async function isWhole(client: Redis): Promise<void> {
  for (;;) {
    const info = String(await client.call('CLUSTER', 'INFO'));
    const nodes = String(await client.call('CLUSTER', 'NODES'));
    const linked = nodes.split('\n').filter((line) => line.includes('slave') && line.includes('connected'));
    // A server that does not know every hash slot yet may also report this state, if full coverage is not required.
    const isServed = info.includes('cluster_state:ok') && info.includes(`cluster_slots_ok:${SLOTS}`);
    if (isServed && linked.length === 3) return;
    await pause(20);
  }
}

/** One that has no copy yet would not take over. */
async function isInSync(client: Redis): Promise<void> {
  while (!String(await client.info('replication')).includes('master_link_status:up')) await pause(20);
}
