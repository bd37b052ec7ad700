/**
 * Node ids, their credentials and generations, of many instances: in the node's own hash, so a claim is one script in its slot.
 *
 * The limit on nodes is approximate: who claims brings along whether there is room by its own count, which is at most a few
 * seconds old. Instances that fill the last places at once may exceed it by what they add in that time. Nothing is counted per heartbeat.
 * An id whose node nobody reports any more is free again after a while; its next generation is later all the same.
 */
import type { Clock } from '../../ports/clock.ts';
import type { ClaimResult, NodeIdClaims } from '../../ports/node-id-claims.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { type Keys, NODE_IDLE_MS } from './keys.ts';
import { createClaimNode } from './node-id-claims/claim-node.ts';
import { createNodeCount } from './node-id-claims/node-count.ts';
import { createReleaseClaim } from './node-id-claims/release-claim.ts';
import { createRestoreClaim } from './node-id-claims/restore-claim.ts';

export function createNodeIdClaims(deps: {
  connection: RedisConnection;
  keys: Keys;
  clock: Clock;
  maxNodes: number;
  /** As the ledger's. */
  idleMs?: number;
}): NodeIdClaims {
  const { connection, keys } = deps;
  const count = createNodeCount(deps);
  const { idleMs = NODE_IDLE_MS } = deps;
  const claimNode = createClaimNode(connection, keys, idleMs);
  const releaseClaim = createReleaseClaim(connection, keys);

  /** At once, not one after the other: an id that is claimed or in conflict belongs into the index either way. */
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
      // A known id is in the index already: the shard that has this part of it may be down.
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
      const [credential, generation] = await asDependency('reading who holds a node id', () =>
        connection.hmget(keys.nodeMeta(nodeId), 'credential', 'generation'),
      );
      return credential === null || credential === undefined ? undefined : Number(generation);
    },

    // Its place in the index is kept by whoever posts the node on the board.
    restore: createRestoreClaim(connection, keys, idleMs),

    async release(nodeId, generation) {
      const result = await releaseClaim(nodeId, generation);
      if (result === 'released') count.correct(-1);
      // Also when nobody held it: the release before may have got no further than that.
      if (result !== 'stale') await count.leave(nodeId);
      return result === 'released';
    },
  };
}
