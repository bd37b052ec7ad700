/** The keys of a run on one server: all keys at the end, for the checker, and streams at any time. */
import type { Redis } from 'ioredis';
import type { LeftKey } from '../../checker/leftovers.ts';
import type { StoredKey } from '../watch/stored-levels.ts';

export async function readKeys(client: Redis, prefix: string): Promise<LeftKey[]> {
  const [seconds = '0', micros = '0'] = (await client.time()).map(String);
  const now = Number(seconds) * 1_000 + Number(micros) / 1_000;
  const found: LeftKey[] = [];
  for await (const name of namesIn(client, `${prefix}:*`)) {
    const type = await client.type(name);
    const ttlMs = await client.pttl(name);
    // It expired between the scan and the read.
    if (type === 'none' || ttlMs === -2) continue;
    const isLeases = name.endsWith(':reserved');
    const isInbox = name.endsWith(':inbox');
    found.push({
      name: name.slice(prefix.length + 1),
      ttlMs,
      size: await sizeOf(client, name, type),
      ...(isInbox && { lingering: await lettersOlderThan(client, name, now - HANDLED_WITHIN_MS) }),
      ...(isLeases && { liveLeases: await client.zcount(name, now, '+inf') }),
    });
  }
  return found;
}

/**
 * Nodes report at rest, too, so there are always messages. A handled one waits up to ten seconds until it is removed together with
 * others; one whose delivery failed is delivered again after as long.
 */
const HANDLED_WITHIN_MS = 30_000;

const lettersOlderThan = async (client: Redis, inbox: string, ms: number): Promise<number> =>
  (await client.xrange(inbox, '-', String(Math.floor(ms)))).length;

export async function readStreams(client: Redis, prefix: string): Promise<StoredKey[]> {
  const found: StoredKey[] = [];
  for await (const name of namesIn(client, `${prefix}:streams:*`))
    found.push({ name: name.slice(prefix.length + 1), size: await client.xlen(name) });
  return found;
}

async function* namesIn(client: Redis, pattern: string): AsyncGenerator<string> {
  let cursor = '0';
  do {
    const [next, names] = await client.scan(cursor, 'MATCH', pattern, 'COUNT', 500);
    cursor = next;
    yield* names;
  } while (cursor !== '0');
}

function sizeOf(client: Redis, name: string, type: string): Promise<number> {
  if (type === 'zset') return client.zcard(name);
  if (type === 'stream') return client.xlen(name);
  if (type === 'hash') return client.hlen(name);
  if (type === 'set') return client.scard(name);
  return type === 'list' ? client.llen(name) : client.strlen(name);
}
