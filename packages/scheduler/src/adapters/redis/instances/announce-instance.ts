/** Typed wrapper of announce-instance.lua. */
import type { Instance } from '../../../ports/instances.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createAnnounceInstance(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'announce-instance');
  return async (self: Instance, ttlMs: number): Promise<'announced' | 'taken'> => {
    const [word] = await run(
      [keys.presence(self.instanceId), keys.death(self.instanceId)],
      [self.incarnation, JSON.stringify(self), ttlMs],
    );
    return word === 'taken' ? 'taken' : 'announced';
  };
}
