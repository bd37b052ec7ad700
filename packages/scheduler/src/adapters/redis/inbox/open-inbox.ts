/** Typed wrapper of open-inbox.lua. */
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';

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
