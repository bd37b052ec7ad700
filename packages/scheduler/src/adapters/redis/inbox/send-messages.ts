/** Hot path: typed wrapper of send-messages.lua. */
import { LONGEST_TOLD, MOST_TOLD } from '../../../ports/inbox.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createSendMessages(
  connection: RedisConnection,
  keys: Keys,
  { maxMessages, group, reader }: { maxMessages: number; group: string; reader: string },
) {
  const run = loadScript(connection, import.meta.url, 'send-messages');
  /** How many of them, from the first on, or that nobody has opened the inbox. */
  return async (to: string, bodies: readonly string[]): Promise<number | 'gone'> => {
    const args = [maxMessages, group, reader, keys.instanceMessages(to), MOST_TOLD, LONGEST_TOLD];
    const [word, sent] = await run([keys.inbox(to)], [...args, ...bodies]);
    return word === 'sent' ? Number(sent) : 'gone';
  };
}
