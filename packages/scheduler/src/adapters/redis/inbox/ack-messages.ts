/** Typed wrapper of ack-messages.lua. */

import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

/** More would not fit on the stack of Lua. */
const MOST_AT_ONCE = 1_000;

export function createAckMessages(connection: RedisConnection, keys: Keys, group: string) {
  const run = loadScript(connection, import.meta.url, 'ack-messages');
  return async (instanceId: string, messageIds: readonly string[]): Promise<void> => {
    for (let from = 0; from < messageIds.length; from += MOST_AT_ONCE) {
      await run([keys.inbox(instanceId)], [group, ...messageIds.slice(from, from + MOST_AT_ONCE)]);
    }
  };
}
