/** Every key that a run has left in one server, for the checker to judge. */
import type { Redis } from 'ioredis';
import type { LeftKey } from '../../checker/leftovers.ts';

export async function readKeys(client: Redis, prefix: string): Promise<LeftKey[]> {
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
