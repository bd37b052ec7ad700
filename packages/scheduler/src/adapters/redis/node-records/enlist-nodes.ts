/** Typed wrapper of enlist-nodes.lua: one call for each part of the index that has any of the ids. Cold path. */
import type { NodeId } from '../../../domain/ids.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { partOf } from '../node-id-claims/node-count.ts';

export function createEnlistNodes(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'enlist-nodes');
  return async (nodeIds: readonly NodeId[]): Promise<void> => {
    const parts = new Map<number, NodeId[]>();
    for (const nodeId of nodeIds) {
      const part = partOf(nodeId);
      const own = parts.get(part);
      if (own === undefined) parts.set(part, [nodeId]);
      else own.push(nodeId);
    }
    // All parts are written before a fault is thrown.
    const answers = await Promise.allSettled(
      [...parts].map(([part, own]) => run([keys.nodesSeen(part)], [...own])),
    );
    for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
  };
}
