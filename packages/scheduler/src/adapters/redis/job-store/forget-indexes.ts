/** Typed wrapper of forget-indexes.lua. */
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';

/** False: somebody still has to take over some of its jobs. */
export function createForgetIndexes(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'forget-indexes');
  return async (instanceId: string): Promise<boolean> => {
    const [word] = await run([keys.instanceJobs(instanceId), keys.instanceSettledJobs(instanceId)], []);
    return word === 'forgotten';
  };
}
