/** Typed wrapper of abandon-lease.lua. Failure path: once per abandoned attempt. */
import type { NodeId } from '../../../domain/ids.ts';
import type { LeaseId } from '../../../domain/lease.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createAbandonLease(connection: RedisConnection, keys: Keys, idleMs: number) {
  const run = loadScript(connection, import.meta.url, 'abandon-lease');
  return async (nodeId: NodeId, lease: LeaseId, endsInMs?: number): Promise<void> => {
    const ends = endsInMs === undefined ? '' : Math.ceil(endsInMs);
    await run([keys.nodeLeases(nodeId), keys.nodeLeaseMarks(nodeId)], [lease, idleMs, ends]);
  };
}
