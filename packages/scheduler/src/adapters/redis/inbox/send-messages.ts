/** Hot path: typed wrapper of send-messages.lua. */
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createSendMessages(connection: RedisConnection, keys: Keys, maxMessages: number) {
  const run = loadScript(connection, import.meta.url, 'send-messages');
  /** How many of them, from the first on; or `gone`: the inbox is not open. */
  return async (to: string, bodies: readonly string[]): Promise<number | 'gone'> => {
    const [word, sent] = await run([keys.inbox(to)], [maxMessages, ...bodies]);
    return word === 'sent' ? Number(sent) : 'gone';
  };
}
