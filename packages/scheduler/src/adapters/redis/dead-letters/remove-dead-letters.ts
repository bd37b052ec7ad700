/** Typed wrapper of remove-dead-letters.lua. Cold path. */

import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createRemoveDeadLetters(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'remove-dead-letters');
  return async (instanceId: string, messageIds: readonly string[]): Promise<number> => {
    const [, removed] = await run(
      [keys.deadLetters(instanceId), keys.deadLetterTenants(instanceId)],
      [...messageIds],
    );
    return Number(removed);
  };
}
