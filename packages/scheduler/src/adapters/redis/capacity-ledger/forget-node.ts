/** Typed wrapper of forget-node.lua. Cold path. */
import type { NodeId } from '../../../domain/ids.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import { GENERATION_MEMORY_MS, type Keys } from '../keys.ts';

export function createForgetNode(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'forget-node');
  return async (nodeId: NodeId): Promise<void> => {
    await run(
      [keys.nodeMeta(nodeId), keys.nodeLeases(nodeId), keys.nodeLeaseMarks(nodeId)],
      [GENERATION_MEMORY_MS],
    );
  };
}
