/** The Redis Cluster of a run: whose masters can be killed, frozen and brought back, and whose keys can be read. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Redis } from 'ioredis';
import type { LeftKey } from '../../../../../proof/src/checker/leftovers.ts';
import { eventually } from '../../support/eventually.ts';
import { startCluster } from '../../support/redis-servers.ts';

export interface RedisStore {
  readonly urls: readonly string[];
  /** Ports of those that are masters now, as far as they answer. */
  masters(): Promise<number[]>;
  /** Ends one without a word. */
  kill(port: number): void;
  /** Starts one again that was killed, once another one has taken its place, and waits until it has caught up. */
  revive(port: number): Promise<void>;
  freeze(port: number): void;
  thaw(port: number): void;
  /** Every master answers and has a replica. */
  whole(): Promise<void>;
  freezeAll(): void;
  thawAll(): void;
  keys(prefix: string): Promise<LeftKey[]>;
  stop(): Promise<void>;
}

interface Member {
  readonly port: number;
  readonly folder: string;
  signal(name: NodeJS.Signals): void;
}

const HOST = '127.0.0.1';
/** As those it was started with. */
const FLAGS = [
  ...['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'],
  ...['--cluster-require-full-coverage', 'no', '--repl-diskless-sync-delay', '0'],
];

export async function startRedisStore(): Promise<RedisStore> {
  const cluster = await startCluster();
  const members = new Map<number, Member>();
  const revived = new Set<ChildProcess>();
  process.once('exit', () => {
    for (const child of revived) child.kill('SIGKILL');
  });
  for (const server of cluster.servers) {
    const [, folder = ''] = await ask(
      server.port,
      (client) => client.config('GET', 'dir') as Promise<string[]>,
    );
    members.set(server.port, { port: server.port, folder, signal: server.signal });
  }
  const ports = [...members.keys()];
  const signal = (port: number, name: NodeJS.Signals): void => members.get(port)?.signal(name);

  function start({ port, folder }: Member): void {
    const args = ['--port', String(port), '--bind', HOST, '--dir', folder, '--save', '', ...FLAGS];
    const child = spawn('redis-server', args, { stdio: 'ignore' });
    revived.add(child);
    child.once('exit', () => revived.delete(child));
    members.set(port, { port, folder, signal: (name) => void child.kill(name) });
  }

  async function roles(): Promise<Map<number, string>> {
    const infos = await Promise.all(
      ports.map(async (port) => [port, await infoOf(port).catch(() => '')] as const),
    );
    return new Map(infos.map(([port, info]) => [port, /role:(\w+)/.exec(info)?.[1] ?? 'gone']));
  }

  const masters = async (): Promise<number[]> =>
    [...(await roles())].flatMap(([port, role]) => (role === 'master' ? [port] : []));

  async function whole(): Promise<void> {
    await eventually(
      async () => {
        const infos = await Promise.all(ports.map(infoOf));
        const states = await Promise.all(
          ports.map((port) => ask(port, async (client) => String(await client.call('CLUSTER', 'INFO')))),
        );
        const serving = infos.filter((info) => info.includes('role:master') && info.includes('state=online'));
        const following = infos.filter((info) => info.includes('master_link_status:up'));
        return (
          serving.length === 3 &&
          following.length === 3 &&
          states.every((state) => state.includes('cluster_state:ok'))
        );
      },
      { withinMs: 30_000 },
    );
  }

  return {
    urls: cluster.settings.clusterUrls,
    masters,
    kill: (port) => signal(port, 'SIGKILL'),
    async revive(port) {
      // Without its data it must come back as a replica: a master that forgot everything would be believed.
      await eventually(async () => (await masters()).length >= 3, { withinMs: 30_000 });
      const member = members.get(port);
      if (member !== undefined) start(member);
      await whole();
    },
    freeze: (port) => signal(port, 'SIGSTOP'),
    thaw: (port) => signal(port, 'SIGCONT'),
    whole,
    freezeAll() {
      for (const port of ports) signal(port, 'SIGSTOP');
    },
    thawAll() {
      for (const port of ports) signal(port, 'SIGCONT');
    },
    async keys(prefix) {
      const all = await Promise.all(
        (await masters()).map((port) => ask(port, (client) => readKeys(client, prefix))),
      );
      return all.flat();
    },
    async stop() {
      for (const child of revived) child.kill('SIGKILL');
      await cluster.stop();
    },
  };
}

async function ask<T>(port: number, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis({
    host: HOST,
    port,
    commandTimeout: 2_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  client.on('error', () => {});
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

const infoOf = (port: number): Promise<string> => ask(port, (client) => client.info('replication'));

async function readKeys(client: Redis, prefix: string): Promise<LeftKey[]> {
  const [seconds = '0', micros = '0'] = (await client.time()).map(String);
  const now = Number(seconds) * 1_000 + Number(micros) / 1_000;
  const found: LeftKey[] = [];
  let cursor = '0';
  do {
    const [next, names] = await client.scan(cursor, 'MATCH', `${prefix}:*`, 'COUNT', 500);
    cursor = next;
    for (const name of names) {
      const type = await client.type(name);
      const ttlMs = await client.pttl(name);
      // It ended between the look and the question.
      if (type === 'none' || ttlMs === -2) continue;
      const isLeases = name.endsWith(':reserved');
      found.push({
        name: name.slice(prefix.length + 1),
        ttlMs,
        size: await sizeOf(client, name, type),
        ...(isLeases && { liveLeases: await client.zcount(name, now, '+inf') }),
      });
    }
  } while (cursor !== '0');
  return found;
}

function sizeOf(client: Redis, name: string, type: string): Promise<number> {
  if (type === 'zset') return client.zcard(name);
  if (type === 'stream') return client.xlen(name);
  if (type === 'hash') return client.hlen(name);
  if (type === 'set') return client.scard(name);
  return type === 'list' ? client.llen(name) : client.strlen(name);
}
