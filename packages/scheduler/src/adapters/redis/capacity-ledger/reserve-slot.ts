/** Typed wrapper of reserve-slot.lua. Hot path. */
import type { NodeId } from '../../../domain/ids.ts';
import type { LeaseId } from '../../../domain/lease.ts';
import type { ReserveResult } from '../../../ports/capacity-ledger.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { loadOf } from './read-load.ts';

export function createReserveSlot(connection: RedisConnection, keys: Keys, idleMs: number) {
  const run = loadScript(connection, import.meta.url, 'reserve-slot');
  return async (nodeId: NodeId, lease: LeaseId, ttlMs: number): Promise<ReserveResult> => {
    const reply = await run(
      [keys.nodeMeta(nodeId), keys.nodeLeases(nodeId), keys.nodeLeaseMarks(nodeId)],
      [lease, ttlMs, idleMs],
    );
    const kind = reply[0] as ReserveResult['kind'];
    return kind === 'not_ready' || kind === 'unknown_node' ? { kind } : { kind, ...loadOf(reply) };
  };
}
