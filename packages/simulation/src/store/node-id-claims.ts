/** Simulation: node ids, their credentials and generations, in the node's own entry. The limit on nodes is approximate. */
import type { NodeId } from '../../../scheduler/dist/domain/ids.js';
import type { Clock } from '../../../scheduler/dist/ports/clock.js';
import type { ClaimResult, NodeIdClaims } from '../../../scheduler/dist/ports/node-id-claims.js';
import { GENERATION_MEMORY_MS } from './capacity-ledger.ts';
import type { Lines } from './servers/lines.ts';
import type { Shard } from './servers/shard.ts';
import type { StoredNode } from './servers/shard-state.ts';
import { keys, NODE_PARTS, nodePart, tags } from './servers/tags.ts';

const COUNT_EVERY_MS = 5_000;

export function createNodeIdClaims(deps: {
  lines: Lines;
  clock: Clock;
  maxNodes: number;
  idleMs: number;
}): NodeIdClaims {
  const { lines, clock, idleMs } = deps;
  const counts = Array.from({ length: NODE_PARTS }, () => 0);
  /** Added by this instance and not yet counted. */
  let since = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  let first: Promise<void> | undefined;

  async function count(): Promise<void> {
    countedAt = clock.now();
    const before = since;
    const answers = await Promise.allSettled(
      counts.map((_, part) =>
        lines.ask(
          tags.key(keys.nodesSeen(part)),
          'count-nodes',
          ({ state, now }) => state.names.get(keys.nodesSeen(part), now())?.size ?? 0,
        ),
      ),
    );
    // A part that did not answer keeps its last count: the limit is approximate, and no reason to refuse a node.
    for (const [part, answer] of answers.entries()) {
      if (answer.status === 'fulfilled') counts[part] = answer.value;
    }
    since -= before;
  }

  async function refresh(): Promise<void> {
    if (first === undefined) first = count();
    else if (clock.now() - countedAt >= COUNT_EVERY_MS) void count();
    await first;
  }

  function inIndex(nodeId: NodeId, what: string, run: (names: Map<string, number>) => void): Promise<void> {
    const key = keys.nodesSeen(nodePart(nodeId));
    return lines.ask(tags.key(key), what, ({ state, now }) => {
      const names = state.names.get(key, now()) ?? new Map<string, number>();
      run(names);
      state.names.put(key, names);
    });
  }

  const claimNode = (nodeId: NodeId, credential: string, hasRoom: boolean): Promise<ClaimResult> =>
    lines.ask(tags.node(nodeId), 'claim-node', (shard) => claim(shard, nodeId, credential, hasRoom, idleMs));

  /** In parallel: an id that is claimed or in conflict belongs into the index in both cases. */
  async function claimWithRoom(nodeId: NodeId, credential: string): Promise<ClaimResult> {
    since += 1;
    let isAdded = false;
    const at = clock.now();
    try {
      const [claimed, entered] = await Promise.allSettled([
        claimNode(nodeId, credential, true),
        inIndex(nodeId, 'enter-node', (names) => names.set(nodeId, Math.max(names.get(nodeId) ?? 0, at))),
      ]);
      if (claimed.status === 'rejected') throw claimed.reason;
      isAdded = claimed.value.kind === 'claimed' && !claimed.value.isReturning;
      // A known id is in the index already: the shard that has this part of it may be down.
      if (isAdded && entered.status === 'rejected') throw entered.reason;
      return claimed.value;
    } finally {
      if (!isAdded) since -= 1;
    }
  }

  return {
    async claim(nodeId, credential) {
      await refresh();
      const hasRoom = counts.reduce((sum, part) => sum + part, since) < deps.maxNodes;
      return hasRoom ? claimWithRoom(nodeId, credential) : claimNode(nodeId, credential, false);
    },

    current: (nodeId) =>
      lines.ask(tags.node(nodeId), 'read-claim', ({ state, now }) => {
        const node = state.nodes.get(nodeId, now());
        return node?.credential === undefined ? undefined : node.generation;
      }),

    restore: (nodeId, credential, generation) =>
      lines.ask(tags.node(nodeId), 'restore-claim', ({ state, now }) => {
        const node = state.nodes.get(nodeId, now());
        const isOthers = node?.credential !== undefined && node.credential !== credential;
        if (isOthers || (node?.generation ?? 0) > generation) return false;
        state.nodes.put(nodeId, { ...kept(node), credential, generation }, now() + idleMs);
        return true;
      }),

    keepOrders: (nodeId, generation, orders) =>
      lines.ask(tags.node(nodeId), 'keep-orders', ({ state, now }) => {
        const node = state.nodes.get(nodeId, now());
        if ((node?.generation ?? 0) > generation) return false;
        if (node !== undefined) node.orders = orders;
        return true;
      }),

    async release(nodeId, generation) {
      const result = await lines.ask(tags.node(nodeId), 'release-claim', (shard) =>
        release(shard, nodeId, generation),
      );
      if (result === 'released') since -= 1;
      // Also when no instance held it: the release before may have failed after that step.
      if (result !== 'stale') await inIndex(nodeId, 'leave-nodes', (names) => names.delete(nodeId));
      return result === 'released';
    },
  };
}

function claim(
  { state, now }: Shard,
  nodeId: NodeId,
  credential: string,
  hasRoom: boolean,
  idleMs: number,
): ClaimResult {
  const node = state.nodes.get(nodeId, now());
  const holder = node?.credential;
  if (holder !== undefined && holder !== credential) return { kind: 'conflict' };
  if (holder === undefined && !hasRoom) return { kind: 'full' };
  // Time makes it grow although the entry was lost; the last value makes it grow although time went back.
  const generation = Math.max(now(), (node?.generation ?? 0) + 1);
  state.nodes.put(nodeId, { ...kept(node), credential, generation }, now() + idleMs);
  return {
    kind: 'claimed',
    generation,
    isReturning: holder !== undefined,
    ...(node?.orders !== undefined && { orders: node.orders }),
  };
}

function release({ state, now }: Shard, nodeId: NodeId, generation: number): 'released' | 'absent' | 'stale' {
  const node = state.nodes.get(nodeId, now());
  if (node?.credential === undefined) return 'absent';
  if (node.generation !== generation) return 'stale';
  node.credential = undefined;
  // The last of the two to forget the node, claims or ledger, leaves only the generation, and only for a while.
  if (node.capacity === undefined) state.nodes.expire(nodeId, now() + GENERATION_MEMORY_MS);
  return 'released';
}

const kept = (node: StoredNode | undefined) => ({ capacity: node?.capacity, orders: node?.orders });
