/** Typed wrapper of restore-claim.lua. Rare: once per connected node when the store may have lost it. */
import type { NodeId } from '../../../domain/ids.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createRestoreClaim(connection: RedisConnection, keys: Keys, idleMs: number) {
  const run = loadScript(connection, import.meta.url, 'restore-claim');
  return async (nodeId: NodeId, credential: string, generation: number): Promise<boolean> => {
    const [word] = await run([keys.nodeMeta(nodeId)], [credential, generation, idleMs]);
    return word === 'restored';
  };
}
