/** What a soak measures of its Redis. */
import { Redis } from 'ioredis';
import { createKeys } from '../../../../packages/scheduler/dist/adapters/redis/keys.js';
import { PREFIX } from '../rig/settings.ts';

export interface RedisFigures {
  readonly keys: number;
  readonly memoryBytes: number;
}

export interface RedisWatch {
  figures(): Promise<RedisFigures>;
  /** How many keys of each kind there are, and entries in streams of each kind. Reads every key. */
  census(): Promise<{
    readonly kinds: ReadonlyMap<string, number>;
    readonly entries: ReadonlyMap<string, number>;
  }>;
  close(): void;
}

const STREAMS = ['inbox', 'deadLetters'];

export function watchRedis(port: number): RedisWatch {
  const client = new Redis({ host: '127.0.0.1', port });
  client.on('error', () => {});
  const kindOf = createKindOf(PREFIX);
  return {
    async figures() {
      const [keys, memory] = await Promise.all([client.dbsize(), client.info('memory')]);
      return { keys, memoryBytes: Number(/used_memory:(\d+)/.exec(memory)?.[1] ?? Number.NaN) };
    },
    async census() {
      const kinds = new Map<string, number>();
      const entries = new Map(STREAMS.map((kind) => [kind, 0]));
      const seen = new Set<string>();
      let cursor = '0';
      do {
        const [next, names] = await client.scan(cursor, 'COUNT', 500);
        cursor = next;
        for (const name of names) {
          // A scan may return a key twice.
          if (seen.has(name)) continue;
          seen.add(name);
          const kind = kindOf(name);
          kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
          const before = entries.get(kind);
          if (before !== undefined) entries.set(kind, before + (await client.xlen(name)));
        }
      } while (cursor !== '0');
      return { kinds, entries };
    },
    close: () => client.disconnect(),
  };
}

/** Stands for every id while patterns are made. */
const ANY = '\u0001';

/** A name that the list does not have: no key of the scheduler. */
export const UNLISTED = 'not in the list of keys';

/** Which kind of key a name in Redis is, by the scheduler's one list of keys. Pure. */
export function createKindOf(prefix: string): (name: string) => string {
  const patterns = Object.entries(createKeys(prefix)).map(([kind, spell]) => {
    const name = typeof spell === 'function' ? (spell as (...ids: string[]) => string)(ANY, ANY) : spell;
    const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(ANY, '.+');
    return { kind, pattern: new RegExp(`^${escaped}$`) };
  });
  return (name) => patterns.find(({ pattern }) => pattern.test(name))?.kind ?? UNLISTED;
}
