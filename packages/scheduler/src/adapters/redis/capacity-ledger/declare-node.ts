/** Typed wrapper of declare-node.lua. Cold path. */
import type { NodeId } from '../../../domain/ids.ts';
import type { Load } from '../../../domain/lease.ts';
import type { NodeCapacity } from '../../../ports/capacity-ledger.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { loadOf } from './read-load.ts';

export function createDeclareNode(connection: RedisConnection, keys: Keys, idleMs: number) {
  const run = loadScript(connection, import.meta.url, 'declare-node');
  return async (nodeId: NodeId, { slots, isAccepting, claim = 0 }: NodeCapacity): Promise<Load> =>
    loadOf(
      await run(
        [keys.nodeMeta(nodeId), keys.nodeLeases(nodeId)],
        [slots, isAccepting ? 1 : 0, idleMs, claim],
      ),
    );
}
