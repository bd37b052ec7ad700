/** Typed wrapper of renew-node.lua: the one write per heartbeat. */
import type { RecordVersion, Stale } from '../../../ports/node-records.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { RECORD_TTL_MS, staleOf } from './publish-record.ts';

export function createRenewNode(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'renew-node');
  return async (
    { nodeId, generation, version }: RecordVersion,
    ttlMs: number,
    at: number,
  ): Promise<{ readonly kind: 'seen' | 'returned' | 'missing' } | Stale> => {
    const reply = await run(
      [keys.nodeCapabilities(nodeId), keys.nodePresence(nodeId), keys.nodeOwner(nodeId)],
      [generation, version, RECORD_TTL_MS, ttlMs, at],
    );
    if (reply[0] === 'stale') return staleOf(reply);
    return { kind: reply[0] as 'seen' | 'returned' | 'missing' };
  };
}
