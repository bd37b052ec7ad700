/** Typed wrapper of bury-message.lua. */

import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createBuryMessage(
  connection: RedisConnection,
  keys: Keys,
  settings: { group: string; maxDead: number },
) {
  const run = loadScript(connection, import.meta.url, 'bury-message');
  /** False: the message was removed before. */
  return async (
    instanceId: string,
    { messageId, deliveries }: { messageId: string; deliveries: number },
  ): Promise<boolean> => {
    const [word] = await run(
      [keys.inbox(instanceId), keys.deadLetters(instanceId)],
      [settings.group, messageId, deliveries, settings.maxDead],
    );
    return word !== 'absent';
  };
}
