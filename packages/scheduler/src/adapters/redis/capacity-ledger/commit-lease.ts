/** Typed wrapper of commit-lease.lua. Hot path. */
import type { NodeId } from '../../../domain/ids.ts';
import type { LeaseId } from '../../../domain/lease.ts';
import type { CommitResult } from '../../../ports/capacity-ledger.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { loadOf } from './read-load.ts';

export function createCommitLease(connection: RedisConnection, keys: Keys, idleMs: number) {
  const run = loadScript(connection, import.meta.url, 'commit-lease');
  return async (nodeId: NodeId, lease: LeaseId, ttlMs: number, isLate = false): Promise<CommitResult> => {
    const reply = await run(
      [keys.nodeMeta(nodeId), keys.nodeLeases(nodeId), keys.nodeLeaseMarks(nodeId)],
      [lease, Math.ceil(ttlMs), idleMs, isLate ? 1 : 0],
    );
    const kind = reply[0] as CommitResult['kind'];
    return kind === 'unknown_node' ? { kind } : { kind, ...loadOf(reply) };
  };
}
