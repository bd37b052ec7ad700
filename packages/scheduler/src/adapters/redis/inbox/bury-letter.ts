/** Typed wrapper of bury-letter.lua. */
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';

export function createBuryLetter(
  connection: RedisConnection,
  keys: Keys,
  settings: { group: string; maxDead: number },
) {
  const run = loadScript(connection, import.meta.url, 'bury-letter');
  /** False: it is gone already. */
  return async (
    instanceId: string,
    { letterId, deliveries }: { letterId: string; deliveries: number },
  ): Promise<boolean> => {
    const [word] = await run(
      [keys.inbox(instanceId), keys.deadLetters(instanceId)],
      [settings.group, letterId, deliveries, settings.maxDead],
    );
    return word !== 'absent';
  };
}
