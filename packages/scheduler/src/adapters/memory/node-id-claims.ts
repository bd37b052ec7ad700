/** Node ids, their credentials, generations and orders, of one process. */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { NodeOrders } from '../../domain/node.ts';
import type { ClaimResult, NodeIdClaims } from '../../ports/node-id-claims.ts';

export function createNodeIdClaims(deps: { maxNodes: number }): NodeIdClaims {
  const holders = new Map<NodeId, { credential: string; generation: number }>();
  const ordered = createBoundedMap<NodeId, NodeOrders>({ max: deps.maxNodes });
  // One counter for all ids, so that a generation never repeats, even for an id that was removed in between.
  let lastGeneration = 0;

  return {
    async claim(nodeId, credential): Promise<ClaimResult> {
      const holder = holders.get(nodeId);
      if (holder !== undefined && holder.credential !== credential) return { kind: 'conflict' };
      if (holder === undefined && holders.size >= deps.maxNodes) return { kind: 'full' };
      lastGeneration += 1;
      holders.set(nodeId, { credential, generation: lastGeneration });
      const orders = ordered.get(nodeId);
      return {
        kind: 'claimed',
        generation: lastGeneration,
        isReturning: holder !== undefined,
        ...(orders !== undefined && { orders }),
      };
    },

    async current(nodeId) {
      return holders.get(nodeId)?.generation;
    },

    async restore(nodeId, credential, generation) {
      const holder = holders.get(nodeId) ?? { credential, generation };
      if (holder.credential !== credential || holder.generation > generation) return false;
      holders.set(nodeId, { credential, generation });
      lastGeneration = Math.max(lastGeneration, generation);
      return true;
    },

    async keepOrders(nodeId, generation, orders) {
      if ((holders.get(nodeId)?.generation ?? 0) > generation) return false;
      if (orders === undefined) ordered.delete(nodeId);
      else ordered.set(nodeId, orders);
      return true;
    },

    async release(nodeId, generation) {
      if (holders.get(nodeId)?.generation !== generation) return false;
      return holders.delete(nodeId);
    },
  };
}
