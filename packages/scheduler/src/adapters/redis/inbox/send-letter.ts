/** Typed wrapper of send-letter.lua. */
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';

export function createSendLetter(connection: RedisConnection, keys: Keys, limit: number) {
  const run = loadScript(connection, import.meta.url, 'send-letter');
  return async (to: string, body: string): Promise<'sent' | 'full' | 'gone'> => {
    const [word] = await run([keys.inbox(to)], [body, limit]);
    return word === 'sent' || word === 'full' ? word : 'gone';
  };
}
