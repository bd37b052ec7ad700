/** Typed wrapper of release-claim.lua. Cold path. */
import type { NodeId } from '../../../domain/ids.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import { GENERATION_MEMORY_MS, type Keys } from '../keys.ts';

export type ReleaseClaimResult = 'released' | 'absent' | 'stale';

export function createReleaseClaim(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'release-claim');
  return async (nodeId: NodeId, generation: number): Promise<ReleaseClaimResult> => {
    const [word] = await run([keys.nodeMeta(nodeId)], [generation, GENERATION_MEMORY_MS]);
    return word as ReleaseClaimResult;
  };
}
