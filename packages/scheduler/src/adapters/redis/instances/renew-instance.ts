/** Typed wrapper of renew-instance.lua. */
import type { Instance, Renewal } from '../../../ports/instances.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createRenewInstance(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'renew-instance');
  return async (self: Instance, ttlMs: number): Promise<Renewal> => {
    const [word, at] = await run(
      [keys.presence(self.instanceId), keys.death(self.instanceId)],
      [self.incarnation, JSON.stringify(self), ttlMs],
    );
    return { kind: word === 'renewed' || word === 'revived' ? word : 'lost', at: Number(at) };
  };
}
