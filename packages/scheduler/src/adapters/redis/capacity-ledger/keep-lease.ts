/** Typed wrapper of keep-lease.lua. Rare: once per job that still runs when a reservation would end, and that another instance drives. */
import type { NodeId } from '../../../domain/ids.ts';
import type { LeaseId } from '../../../domain/lease.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createKeepLease(connection: RedisConnection, keys: Keys, idleMs: number) {
  const run = loadScript(connection, import.meta.url, 'keep-lease');
  return async (nodeId: NodeId, lease: LeaseId, ttlMs: number, isTaken = false): Promise<boolean> => {
    const reply = await run(
      [keys.nodeLeases(nodeId), keys.nodeLeaseMarks(nodeId)],
      [lease, ttlMs, isTaken ? '1' : '0', idleMs],
    );
    return reply[0] === 'kept';
  };
}
