/** How many keys there are under a prefix, and how much memory they use. The bench may read all of them: no user waits for it. */
import { Redis } from 'ioredis';
import type { RedisConnection } from '../../../packages/scheduler/dist/adapters/redis/connection/redis-connection.js';

const PAGE = 1_000;

export async function keysOf(connection: RedisConnection, prefix: string): Promise<number> {
  return (await listKeys(connection, prefix)).size;
}

export async function bytesOfKeys(connection: RedisConnection, prefix: string): Promise<number> {
  const keys = [...(await listKeys(connection, prefix))];
  let bytes = 0;
  for (let from = 0; from < keys.length; from += PAGE) {
    const some = keys.slice(from, from + PAGE);
    // SAMPLES 0: every element is weighed.
    const sizes = await Promise.all(some.map((key) => connection.memory('USAGE', key, 'SAMPLES', 0)));
    for (const size of sizes) bytes += size ?? 0;
  }
  return bytes;
}

async function listKeys(connection: RedisConnection, prefix: string): Promise<ReadonlySet<string>> {
  if (!(connection instanceof Redis)) throw new Error('only one server can be inspected, not a Cluster');
  const keys = new Set<string>();
  let cursor = '0';
  do {
    const [next, some] = await connection.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', PAGE);
    cursor = next;
    for (const key of some) keys.add(key);
  } while (cursor !== '0');
  return keys;
}
