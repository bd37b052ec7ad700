/** Typed wrapper of fence-lease.lua. Rare: once per attempt that was given up. */
import type { NodeId } from '../../../domain/ids.ts';
import type { LeaseId } from '../../../domain/lease.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createFenceLease(connection: RedisConnection, keys: Keys, idleMs: number) {
  const run = loadScript(connection, import.meta.url, 'fence-lease');
  return async (nodeId: NodeId, lease: LeaseId): Promise<void> => {
    await run([keys.nodeLeases(nodeId), keys.nodeLeaseMarks(nodeId)], [lease, idleMs]);
  };
}
