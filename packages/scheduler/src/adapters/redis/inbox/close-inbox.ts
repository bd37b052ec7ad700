/** Typed wrapper of close-inbox.lua. */

import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createCloseInbox(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'close-inbox');
  return async (instanceId: string): Promise<'closed' | 'not_empty'> => {
    const [word] = await run([keys.inbox(instanceId)], []);
    return word === 'closed' ? 'closed' : 'not_empty';
  };
}
