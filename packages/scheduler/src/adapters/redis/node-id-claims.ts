/**
 * Node ids, their credentials and generations, for all instances: in the node's own hash, so that a claim is one script in its hash slot.
 *
 * The limit on nodes is approximate: each instance checks it against its own count, which is at most a few seconds old. Instances that
 * claim the last ids at the same time may exceed it by what they add in that time. Heartbeats count nothing.
 * An id without reports becomes free after a while; its next generation is later nevertheless.
 */
import type { Clock } from '../../ports/clock.ts';
import type { ClaimResult, NodeIdClaims } from '../../ports/node-id-claims.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { type Keys, NODE_IDLE_MS } from './keys.ts';
import { createClaimNode } from './node-id-claims/claim-node.ts';
import { createKeepOrders } from './node-id-claims/keep-orders.ts';
import { createNodeCount } from './node-id-claims/node-count.ts';
import { createReleaseClaim } from './node-id-claims/release-claim.ts';
import { createRestoreClaim } from './node-id-claims/restore-claim.ts';

export function createNodeIdClaims(deps: {
  connection: RedisConnection;
  keys: Keys;
  clock: Clock;
  maxNodes: number;
  /** The same as the ledger's. */
  idleMs?: number;
}): NodeIdClaims {
  const { connection, keys } = deps;
  const count = createNodeCount(deps);
  const { idleMs = NODE_IDLE_MS } = deps;
  const claimNode = createClaimNode(connection, keys, idleMs);
  const releaseClaim = createReleaseClaim(connection, keys);

  /** Both writes run concurrently: the index must contain the id whether the claim succeeds or conflicts. */
  async function claimWithRoom(nodeId: string, credential: string): Promise<ClaimResult> {
    count.correct(1);
    let isAdded = false;
    try {
      const [claimed, entered] = await Promise.allSettled([
        claimNode(nodeId, credential, true),
        count.enter(nodeId),
      ]);
      if (claimed.status === 'rejected') throw claimed.reason;
      isAdded = claimed.value.kind === 'claimed' && !claimed.value.isReturning;
      // A known id is in the index already, so this part of the index may be on a shard that is down.
      if (isAdded && entered.status === 'rejected') throw entered.reason;
      return claimed.value;
    } finally {
      if (!isAdded) count.correct(-1);
    }
  }

  return {
    async claim(nodeId, credential) {
      await count.refresh();
      return count.isBelow(deps.maxNodes)
        ? claimWithRoom(nodeId, credential)
        : claimNode(nodeId, credential, false);
    },

    async current(nodeId) {
      const [credential, generation] = await asDependency('reading the claim of a node id', () =>
        connection.hmget(keys.nodeMeta(nodeId), 'credential', 'generation'),
      );
      return credential === null || credential === undefined ? undefined : Number(generation);
    },

    // The holder keeps the id in the index by posting the node record.
    restore: createRestoreClaim(connection, keys, idleMs),

    keepOrders: createKeepOrders(connection, keys),

    async release(nodeId, generation) {
      const result = await releaseClaim(nodeId, generation);
      if (result === 'released') count.correct(-1);
      // Also if the id was not claimed: an earlier release may have failed before this step.
      if (result !== 'stale') await count.leave(nodeId);
      return result === 'released';
    },
  };
}
