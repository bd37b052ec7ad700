/** Typed wrapper of open-inbox.lua. */

import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createOpenInbox(
  connection: RedisConnection,
  keys: Keys,
  { group, idleMs }: { readonly group: string; readonly idleMs: number },
) {
  const run = loadScript(connection, import.meta.url, 'open-inbox');
  return async (instanceId: string): Promise<void> => {
    await run([keys.inbox(instanceId)], [group, idleMs]);
  };
}
