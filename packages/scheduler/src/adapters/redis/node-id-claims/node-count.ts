/** Cold path: the approximate number of nodes: counted periodically in the parts of the index, plus the changes of this instance since then. */
import type { NodeId } from '../../../domain/ids.ts';
import type { Clock } from '../../../ports/clock.ts';
import { asDependency } from '../connection/dependency.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { type Keys, NODE_PARTS } from '../keys.ts';

export interface NodeCount {
  /** Counts again if the last count is old. Callers wait only for the first count. */
  refresh(): Promise<void>;
  isBelow(limit: number): boolean;
  /** This instance added or removed an id that no count includes yet. */
  correct(by: 1 | -1): void;
  enter(nodeId: NodeId): Promise<void>;
  leave(nodeId: NodeId): Promise<void>;
}

const COUNT_EVERY_MS = 5_000;

export function createNodeCount(deps: { connection: RedisConnection; keys: Keys; clock: Clock }): NodeCount {
  const { connection, keys, clock } = deps;
  const counts = Array.from({ length: NODE_PARTS }, () => 0);
  let since = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  let first: Promise<void> | undefined;

  async function count(): Promise<void> {
    countedAt = clock.now();
    const before = since;
    const answers = await Promise.allSettled(counts.map((_, part) => connection.zcard(keys.nodesSeen(part))));
    // A part that did not answer keeps its last count: the limit is approximate, and no reason to refuse a node.
    for (const [part, answer] of answers.entries())
      if (answer.status === 'fulfilled') counts[part] = answer.value;
    since -= before;
  }

  return {
    async refresh() {
      if (first === undefined) first = count();
      else if (clock.now() - countedAt >= COUNT_EVERY_MS) void count();
      await first;
    },
    isBelow: (limit) => counts.reduce((sum, part) => sum + part, since) < limit,
    correct(by) {
      since += by;
    },
    async enter(nodeId) {
      await asDependency('adding a node to the index', () =>
        connection.zadd(keys.nodesSeen(partOf(nodeId)), 'GT', clock.now(), nodeId),
      );
    },
    async leave(nodeId) {
      await asDependency('removing a node from the index', () =>
        connection.zrem(keys.nodesSeen(partOf(nodeId)), nodeId),
      );
    },
  };
}

/** FNV-1a. Any hash with an even spread would do, if all instances use the same one. */
export function partOf(nodeId: NodeId): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < nodeId.length; at += 1) {
    hash = Math.imul(hash ^ nodeId.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0) % NODE_PARTS;
}
