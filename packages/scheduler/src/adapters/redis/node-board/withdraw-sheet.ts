/** Typed wrapper of withdraw-sheet.lua. Cold path. */
import type { NodeId } from '../../../domain/ids.ts';
import { type Stale, WITHDRAWN_VERSION } from '../../../ports/node-board.ts';
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';
import { WITHDRAWN_LIFE_MS } from './sheet-life.ts';
import { staleOf } from './stale-of.ts';

export function createWithdrawSheet(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'withdraw-sheet');
  return async (nodeId: NodeId, generation: number): Promise<{ readonly kind: 'withdrawn' } | Stale> => {
    const reply = await run(
      [keys.nodeCapabilities(nodeId), keys.nodePresence(nodeId), keys.nodeOwner(nodeId)],
      [generation, WITHDRAWN_VERSION, WITHDRAWN_LIFE_MS],
    );
    return reply[0] === 'stale' ? staleOf(reply) : { kind: 'withdrawn' };
  };
}
