/** Typed wrapper of renew-instance.lua. */
import type { InstanceName } from '../../../ports/instances.ts';
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';

export function createRenewInstance(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'renew-instance');
  return async (self: InstanceName, ttlMs: number): Promise<'renewed' | 'lost'> => {
    const [word] = await run([keys.presence(self.instanceId)], [self.incarnation, ttlMs]);
    return word === 'renewed' ? 'renewed' : 'lost';
  };
}
