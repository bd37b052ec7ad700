/** Typed wrapper of reassert-lease.lua. Rare: once per lease that is held when a master has changed. */
import type { NodeId } from '../../../domain/ids.ts';
import type { LeaseId, Load } from '../../../domain/lease.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { loadOf } from './read-load.ts';

export function createReassertLease(connection: RedisConnection, keys: Keys, idleMs: number) {
  const run = loadScript(connection, import.meta.url, 'reassert-lease');
  return async (
    nodeId: NodeId,
    lease: LeaseId,
    ttlMs: number,
    isTaken = false,
  ): Promise<Load | undefined> => {
    const reply = await run(
      [keys.nodeMeta(nodeId), keys.nodeLeases(nodeId), keys.nodeLeaseMarks(nodeId)],
      [lease, ttlMs, idleMs, isTaken ? '1' : '0'],
    );
    return reply[0] === 'unknown_node' ? undefined : loadOf(reply);
  };
}
