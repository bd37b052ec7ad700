/** Cold path: inspects replicas. Nothing else uses them, so a connection to a replica is opened for one inspection and closed. */
import { Cluster, Redis } from 'ioredis';
import { closeRedis, type RedisConnection } from './redis-connection.ts';

export interface Replica {
  readonly host: string;
  readonly port: number;
}

/** Addresses from the Cluster, because masters may see other addresses; the Cluster names no replica that has not received a write yet. */
export function replicasOf(
  connection: RedisConnection,
  infos: readonly ReadonlyMap<string, string>[],
): readonly Replica[] {
  const named = connection instanceof Cluster ? connection.nodes('slave') : [];
  if (named.length === 0) return infos.flatMap(replicasIn);
  return named.map(({ options: { host = '', port = 0 } }) => ({ host, port }));
}

/** From INFO replication: "slave0:ip=10.0.0.1,port=6379,state=online,offset=1,lag=0". */
function replicasIn(info: ReadonlyMap<string, string>): readonly Replica[] {
  return [...info].flatMap(([name, value]) => {
    const [, host = '', port = ''] = /^ip=([^,]+),port=(\d+),/.exec(value) ?? [];
    return /^slave\d+$/.test(name) && host !== '' ? [{ host, port: Number(port) }] : [];
  });
}

/** Uses the settings and rights of the connection. */
export async function queryReplica<T>(
  connection: RedisConnection,
  { host, port }: Replica,
  query: (server: Redis) => Promise<T>,
): Promise<T> {
  const own = connection instanceof Cluster ? connection.options.redisOptions : connection.options;
  const server = new Redis({
    ...own,
    ...{ host, port, sentinels: undefined, replyMapping: 'legacy' },
    // One try: the command waits for the connection, within its own timeout.
    ...{ retryStrategy: () => null, enableOfflineQueue: true, lazyConnect: true },
  });
  let why: Error | undefined;
  server.on('error', (fault) => {
    why ??= fault;
  });
  try {
    return await query(server);
  } catch (fault) {
    // The command's own fault only reports that the connection is closed.
    throw why ?? fault;
  } finally {
    // Closing an ended connection would wait for ever.
    if (server.status !== 'end') closeRedis(server);
  }
}
