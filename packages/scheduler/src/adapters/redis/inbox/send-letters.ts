/** Hot path: typed wrapper of send-letters.lua. */
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';

export function createSendLetters(connection: RedisConnection, keys: Keys, limit: number) {
  const run = loadScript(connection, import.meta.url, 'send-letters');
  /** How many of them, from the first on, or that nobody has opened the inbox. */
  return async (to: string, bodies: readonly string[]): Promise<number | 'gone'> => {
    const [word, sent] = await run([keys.inbox(to)], [limit, ...bodies]);
    return word === 'sent' ? Number(sent) : 'gone';
  };
}
