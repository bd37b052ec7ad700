/** Typed wrapper of release-lease.lua. Hot path. */
import type { NodeId } from '../../../domain/ids.ts';
import type { LeaseId } from '../../../domain/lease.ts';
import type { ReleaseResult } from '../../../ports/capacity-ledger.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { loadOf } from './read-load.ts';

export function createReleaseLease(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'release-lease');
  return async (nodeId: NodeId, lease: LeaseId): Promise<ReleaseResult> => {
    const reply = await run(
      [keys.nodeMeta(nodeId), keys.nodeLeases(nodeId), keys.nodeLeaseMarks(nodeId)],
      [lease],
    );
    const kind = reply[0] as ReleaseResult['kind'];
    return kind === 'unknown_node' ? { kind } : { kind, ...loadOf(reply) };
  };
}
