/** Typed wrapper of declare-dead.lua. */
import { DEATH_REMEMBERED_MS } from '../../../ports/instances.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createDeclareDead(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'declare-dead');
  return async (instanceId: string): Promise<'dead' | 'living'> => {
    const [word] = await run([keys.presence(instanceId), keys.death(instanceId)], [DEATH_REMEMBERED_MS]);
    return word === 'dead' ? 'dead' : 'living';
  };
}
