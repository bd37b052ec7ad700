/** Typed wrapper of bury-letter.lua. */
import type { Letter } from '../../../ports/inbox.ts';
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';

export function createBuryLetter(
  connection: RedisConnection,
  keys: Keys,
  settings: { group: string; maxDead: number },
) {
  const run = loadScript(connection, import.meta.url, 'bury-letter');
  return async (instanceId: string, { letterId, deliveries }: Letter): Promise<boolean> => {
    const [word] = await run(
      [keys.inbox(instanceId), keys.deadLetters(instanceId)],
      [settings.group, letterId, deliveries, settings.maxDead],
    );
    return word === 'buried';
  };
}
