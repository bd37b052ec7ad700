/** The Redis Cluster of a run: masters can be killed, frozen and restarted, hash slots can move, and keys can be read. */
import { Redis } from 'ioredis';
import type { LeftKey } from '../../checker/leftovers.ts';
import { eventually } from '../../eventually.ts';
import { type RedisServer, startRedisCluster } from '../../redis/redis-servers.ts';
import type { StoredKey } from '../watch/stored-levels.ts';
import { fullSlots, type Master, moveSlots } from './move-slots.ts';
import { readKeys, readStreams } from './read-keys.ts';

export interface RedisStore {
  readonly ports: readonly number[];
  /** Ports of the current masters, as far as they answer. */
  masters(): Promise<number[]>;
  /** Port of the master that has the hash slot of this key. */
  masterOf(key: string): Promise<number>;
  /** Kills one. */
  kill(port: number): void;
  /** Restarts a killed server, once another one has taken its place, and waits until it has caught up. */
  revive(port: number): Promise<void>;
  freeze(port: number): void;
  thaw(port: number): void;
  /** Moves that many of the hash slots that hold keys from one master to another. */
  moveSlots(from: number, to: number, most: number): Promise<void>;
  /** Every master answers and has a replica. */
  whole(): Promise<void>;
  freezeAll(): void;
  thawAll(): void;
  keys(prefix: string): Promise<LeftKey[]>;
  /** Streams and how long they are, as far as their servers answer. */
  streams(prefix: string): Promise<StoredKey[]>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const HEALED_MS = 30_000;

export async function startRedisStore(): Promise<RedisStore> {
  const cluster = await startRedisCluster();
  const servers = new Map(cluster.servers.map((server) => [server.port, server]));
  const ports = [...servers.keys()];
  const serverAt = (port: number): RedisServer => servers.get(port) as RedisServer;

  const masters = async (): Promise<number[]> => {
    const roles = await Promise.all(
      ports.map(async (port) => /role:(\w+)/.exec(await infoOf(port).catch(() => ''))?.[1]),
    );
    return ports.filter((_, at) => roles[at] === 'master');
  };

  async function ofAll<T>(read: (client: Redis) => Promise<T[]>): Promise<T[]> {
    const all = await Promise.all((await masters()).map((port) => ask(port, read)));
    return all.flat();
  }

  async function whole(): Promise<void> {
    const isWhole = async (): Promise<boolean> => {
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
    };
    await eventually(isWhole, { withinMs: HEALED_MS });
  }

  async function move(fromPort: number, toPort: number, most: number): Promise<void> {
    const all: Master[] = (await masters()).map((port) => ({ port, client: connect(port) }));
    const [from, to] = [fromPort, toPort].map((port) => all.find((each) => each.port === port));
    try {
      if (from !== undefined && to !== undefined)
        await moveSlots(await fullSlots(from, most), { from, to, masters: all });
    } finally {
      for (const { client } of all) client.disconnect();
    }
  }

  return {
    ports,
    masters,
    async masterOf(key) {
      const [port = 0] = await masters();
      const answer = await ask(port, (client) => client.exists(key)).catch(String);
      // "MOVED 3999 127.0.0.1:6381", if another one has it.
      return Number(/MOVED \d+ \S+:(\d+)/.exec(`${answer}`)?.[1] ?? port);
    },
    kill: (port) => serverAt(port).signal('SIGKILL'),
    async revive(port) {
      // Without its data it must come back as a replica: an empty master would be believed.
      await eventually(async () => (await masters()).length >= 3, { withinMs: HEALED_MS });
      await serverAt(port).restart();
      await whole();
    },
    freeze: (port) => serverAt(port).signal('SIGSTOP'),
    thaw: (port) => serverAt(port).signal('SIGCONT'),
    moveSlots: move,
    whole,
    freezeAll() {
      for (const server of servers.values()) server.signal('SIGSTOP');
    },
    thawAll() {
      for (const server of servers.values()) server.signal('SIGCONT');
    },
    keys: (prefix) => ofAll((client) => readKeys(client, prefix)),
    streams: (prefix) => ofAll((client) => readStreams(client, prefix)),
    stop: () => cluster.stop(),
  };
}

function connect(port: number): Redis {
  const client = new Redis({
    host: HOST,
    port,
    commandTimeout: 2_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  client.on('error', () => {});
  return client;
}

async function ask<T>(port: number, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = connect(port);
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

const infoOf = (port: number): Promise<string> => ask(port, (client) => client.info('replication'));
