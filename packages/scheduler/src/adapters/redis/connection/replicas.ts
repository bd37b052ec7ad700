/** Cold path: replicas, as far as they can be reached. Nothing else is asked of them, so that connections to them are opened for a look and closed. */
import { Cluster, Redis } from 'ioredis';
import { closeRedis, type RedisConnection } from './redis-connection.ts';

export interface Replica {
  readonly host: string;
  readonly port: number;
}

/** As the Cluster names them, since what masters see may be another side of the network; it names none that has not got a write yet. */
export function replicasOf(
  connection: RedisConnection,
  infos: readonly ReadonlyMap<string, string>[],
): readonly Replica[] {
  const named = connection instanceof Cluster ? connection.nodes('slave') : [];
  if (named.length === 0) return infos.flatMap(replicasIn);
  return named.map(({ options: { host = '', port = 0 } }) => ({ host, port }));
}

/** Of INFO replication: "slave0:ip=10.0.0.1,port=6379,state=online,offset=1,lag=0". */
function replicasIn(info: ReadonlyMap<string, string>): readonly Replica[] {
  return [...info].flatMap(([name, value]) => {
    const [, host = '', port = ''] = /^ip=([^,]+),port=(\d+),/.exec(value) ?? [];
    return /^slave\d+$/.test(name) && host !== '' ? [{ host, port: Number(port) }] : [];
  });
}

/** With the settings and rights of the connection. */
export async function askReplica<T>(
  connection: RedisConnection,
  { host, port }: Replica,
  ask: (server: Redis) => Promise<T>,
): Promise<T> {
  const own = connection instanceof Cluster ? connection.options.redisOptions : connection.options;
  const server = new Redis({
    ...own,
    ...{ host, port, sentinels: undefined, replyMapping: 'legacy' },
    // One try, which waits for its connection and no longer than for any answer.
    ...{ retryStrategy: () => null, enableOfflineQueue: true, lazyConnect: true },
  });
  let why: Error | undefined;
  server.on('error', (fault) => {
    why ??= fault;
  });
  try {
    return await ask(server);
  } catch (fault) {
    // Of a connection that failed the command only knows that it is closed.
    throw why ?? fault;
  } finally {
    // What has ended by itself would be waited for.
    if (server.status !== 'end') closeRedis(server);
  }
}
