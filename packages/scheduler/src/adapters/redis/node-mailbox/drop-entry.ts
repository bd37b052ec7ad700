/** Typed wrapper of drop-entry.lua. */
import type { JobId, NodeId } from '../../../domain/ids.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createDropEntry(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'drop-entry');
  return async (nodeId: NodeId, jobId: JobId): Promise<boolean> => {
    const [word] = await run([keys.nodeMailbox(nodeId), keys.nodeMailboxBodies(nodeId)], [jobId]);
    return word === 'dropped';
  };
}
