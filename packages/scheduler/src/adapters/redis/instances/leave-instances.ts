/** Typed wrapper of leave-instances.lua. */
import { DEATH_REMEMBERED_MS, type InstanceName } from '../../../ports/instances.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createLeaveInstances(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'leave-instances');
  return async (self: InstanceName): Promise<void> => {
    const names = [keys.presence(self.instanceId), keys.death(self.instanceId)];
    await run(names, [self.incarnation, DEATH_REMEMBERED_MS]);
  };
}
