/** Typed wrapper of keep-orders.lua, and the orders as text. Cold path: once per order of an operator. */
import type { NodeId } from '../../../domain/ids.ts';
import type { NodeOrders } from '../../../domain/node.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import { type Keys, ORDERS_MEMORY_MS } from '../keys.ts';

export function createKeepOrders(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'keep-orders');
  return async (nodeId: NodeId, generation: number, orders: NodeOrders | undefined): Promise<boolean> => {
    const [word] = await run(
      [keys.nodeMeta(nodeId), keys.nodeOrders(nodeId)],
      [generation, orders === undefined ? '' : writeOrders(orders), ORDERS_MEMORY_MS],
    );
    return word === 'kept';
  };
}

const writeOrders = ({ isCordoned, isDrained, reason }: NodeOrders): string =>
  JSON.stringify({ cordoned: isCordoned, drained: isDrained, reason });

export function readOrders(text: string): NodeOrders {
  const { cordoned, drained, reason } = JSON.parse(text) as {
    cordoned: boolean;
    drained: boolean;
    reason?: string;
  };
  return { isCordoned: cordoned, isDrained: drained, ...(reason !== undefined && { reason }) };
}
