/** Typed wrapper of withdraw-record.lua. Cold path. */
import type { NodeId } from '../../../domain/ids.ts';
import { type Stale, WITHDRAWN_VERSION } from '../../../ports/node-records.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { staleOf } from './publish-record.ts';

/** How long the store remembers that a generation was withdrawn. */
const WITHDRAWN_TTL_MS = 60_000;

export function createWithdrawRecord(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'withdraw-record');
  return async (nodeId: NodeId, generation: number): Promise<{ readonly kind: 'withdrawn' } | Stale> => {
    const reply = await run(
      [keys.nodeCapabilities(nodeId), keys.nodePresence(nodeId), keys.nodeOwner(nodeId)],
      [generation, WITHDRAWN_VERSION, WITHDRAWN_TTL_MS],
    );
    return reply[0] === 'stale' ? staleOf(reply) : { kind: 'withdrawn' };
  };
}
