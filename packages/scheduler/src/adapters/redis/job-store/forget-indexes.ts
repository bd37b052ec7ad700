/** Typed wrapper of forget-indexes.lua. */

import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

/** False: some of its jobs were not taken over yet. */
export function createForgetIndexes(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'forget-indexes');
  return async (instanceId: string): Promise<boolean> => {
    const [word] = await run([keys.instanceJobs(instanceId), keys.instanceSettledJobs(instanceId)], []);
    return word === 'forgotten';
  };
}
