/** Typed wrapper of claim-node.lua. Cold path: once per connection of a node. */
import type { NodeId } from '../../../domain/ids.ts';
import type { ClaimResult } from '../../../ports/node-id-claims.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import { type Keys, ORDERS_MEMORY_MS } from '../keys.ts';
import { readOrders } from './keep-orders.ts';

export function createClaimNode(connection: RedisConnection, keys: Keys, idleMs: number) {
  const run = loadScript(connection, import.meta.url, 'claim-node');
  return async (nodeId: NodeId, credential: string, hasRoom: boolean): Promise<ClaimResult> => {
    const [word, generation, isReturning, orders] = await run(
      [keys.nodeMeta(nodeId), keys.nodeOrders(nodeId)],
      [credential, hasRoom ? 1 : 0, idleMs, ORDERS_MEMORY_MS],
    );
    if (word !== 'claimed') return { kind: word === 'full' ? 'full' : 'conflict' };
    return {
      kind: 'claimed',
      generation: Number(generation),
      isReturning: isReturning === 1,
      ...(typeof orders === 'string' && { orders: readOrders(orders) }),
    };
  };
}
