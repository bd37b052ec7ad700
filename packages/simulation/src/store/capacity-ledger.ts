/** Simulation: the capacity ledger of many instances. Each call is what one script does in the slot of its node. */
import type { SharedLedger } from '../../../scheduler/dist/app/shared-store.js';
import type { NodeId } from '../../../scheduler/dist/domain/ids.js';
import { type LeaseId, type Load, leaseJob } from '../../../scheduler/dist/domain/lease.js';
import type {
  CommitResult,
  LoadReport,
  ReleaseResult,
  ReserveResult,
} from '../../../scheduler/dist/ports/capacity-ledger.js';
import { hold, lengthen, liveOf, marksOf, noteCommitted, sweep, unmark } from './leases.ts';
import type { Lines } from './servers/lines.ts';
import type { Shard } from './servers/shard.ts';
import type { StoredNode } from './servers/shard-state.ts';
import { shardOf, tags } from './servers/tags.ts';

/** How long a forgotten node id still knows its last generation. */
export const GENERATION_MEMORY_MS = 3_600_000;

type Capacity = NonNullable<StoredNode['capacity']>;

export function createCapacityLedger(deps: { lines: Lines; idleMs: number }): SharedLedger {
  const { lines, idleMs } = deps;
  const on = <T>(nodeId: NodeId, what: string, run: (shard: Shard) => T): Promise<T> =>
    lines.ask(tags.node(nodeId), what, run);

  return {
    declare: (nodeId, { slots, isAccepting, claim = 0 }) =>
      on(nodeId, 'declare-node', (shard) => {
        const now = shard.now();
        const { nodes, leases } = shard.state;
        const node = nodes.get(nodeId, now) ?? { ...NO_NODE };
        const { reported = 0, released = 0, claim: before = 0 } = node.capacity ?? {};
        const isOutdated = claim > 0 && claim < Math.max(before, node.generation ?? 0);
        if (node.capacity === undefined || !isOutdated)
          node.capacity = { slots, isAccepting, reported, released, claim: Math.max(claim, before) };
        nodes.put(nodeId, node, now + idleMs);
        leases.expire(nodeId, now + idleMs);
        return loadOf(node.capacity, liveOf(shard, nodeId, now));
      }),

    reserve: (nodeId, lease, ttlMs) =>
      on(nodeId, 'reserve-slot', (shard): ReserveResult => {
        const now = shard.now();
        const capacity = shard.state.nodes.get(nodeId, now)?.capacity;
        if (capacity === undefined) return { kind: 'unknown_node' };
        const leases = sweep(shard, nodeId, now);
        const held = leases?.size ?? 0;
        const until = leases?.get(lease);
        if (leases !== undefined && until !== undefined) {
          leases.set(lease, Math.max(until, now + ttlMs));
          return { kind: 'already', ...loadOf(capacity, held) };
        }
        if (!capacity.isAccepting) return { kind: 'not_ready' };
        const load = loadOf(capacity, held);
        if (load.used >= load.max) return { kind: 'full', ...load };
        hold(shard, nodeId, leases, lease, now + ttlMs, now + idleMs);
        return { kind: 'reserved', ...loadOf(capacity, held + 1) };
      }),

    commit: (nodeId, lease, ttlMs, isLate = false) =>
      on(nodeId, 'commit-lease', (shard): CommitResult => {
        const now = shard.now();
        const capacity = shard.state.nodes.get(nodeId, now)?.capacity;
        if (capacity === undefined) return { kind: 'unknown_node' };
        const leases = sweep(shard, nodeId, now);
        const held = leases?.size ?? 0;
        const until = leases?.get(lease);
        if (!isLate && until === undefined) return { kind: 'absent', ...loadOf(capacity, held) };
        if (!isLate && shard.state.marks.get(nodeId, now)?.abandoned.has(lease))
          return { kind: 'abandoned', ...loadOf(capacity, held) };
        // Compared with the leases alone: the node's report may count this very job.
        if (until === undefined && held >= capacity.slots) return { kind: 'full', ...loadOf(capacity, held) };
        hold(shard, nodeId, leases, lease, Math.max(until ?? 0, now + ttlMs), now + idleMs);
        const marks = marksOf(shard, nodeId, now, idleMs);
        marks.abandoned.delete(lease);
        noteCommitted(marks, lease, now);
        return { kind: 'committed', ...loadOf(capacity, until === undefined ? held + 1 : held) };
      }),

    release: (nodeId, lease) =>
      on(nodeId, 'release-lease', (shard): ReleaseResult => {
        const now = shard.now();
        const { nodes, leases: all, marks: allMarks } = shard.state;
        const capacity = nodes.get(nodeId, now)?.capacity;
        const leases = all.get(nodeId, now);
        const marks = allMarks.get(nodeId, now);
        const expiry = leases?.get(lease);
        leases?.delete(lease);
        if (capacity === undefined) {
          unmark(marks, lease);
          return { kind: 'unknown_node' };
        }
        let isReleased = false;
        if (expiry !== undefined) {
          marks?.abandoned.delete(lease);
          marks?.committed.delete(lease);
          const wasReported = marks?.reported.delete(lease) === true;
          isReleased = expiry > now;
          // Only a lease held at the report can be among the jobs the node counted.
          if (isReleased && wasReported) capacity.released += 1;
        }
        const load = loadOf(capacity, liveOf(shard, nodeId, now));
        return { kind: isReleased ? 'released' : 'absent', ...load };
      }),

    abandon: (nodeId, lease, endsInMs) =>
      on(nodeId, 'abandon-lease', (shard) => {
        const now = shard.now();
        const leases = shard.state.leases.get(nodeId, now);
        const until = leases?.get(lease);
        if (leases === undefined || until === undefined) return;
        const { abandoned } = marksOf(shard, nodeId, now, idleMs);
        if (!abandoned.has(lease)) abandoned.set(lease, now);
        if (endsInMs !== undefined) leases.set(lease, Math.min(until, now + endsInMs));
      }),

    reconcile: (nodeId, report) =>
      on(nodeId, 'reconcile-node', (shard) => reconcile(shard, nodeId, report, idleMs)),

    async loads(nodeIds) {
      const each = [...new Set(nodeIds)];
      const byShard = new Map<number, NodeId[]>();
      for (const nodeId of each) {
        const at = shardOf(tags.node(nodeId), lines.all.length);
        byShard.set(at, [...(byShard.get(at) ?? []), nodeId]);
      }
      // All or nothing: a shard that does not answer leaves the whole answer unknown.
      const parts = await Promise.all(
        [...byShard.values()].map((some) =>
          on(some[0] as NodeId, 'read-load', (shard) => {
            const now = shard.now();
            return some.flatMap((nodeId): (readonly [NodeId, Load])[] => {
              const capacity = shard.state.nodes.get(nodeId, now)?.capacity;
              return capacity === undefined
                ? []
                : [[nodeId, loadOf(capacity, liveOf(shard, nodeId, now))] as const];
            });
          }),
        ),
      );
      return new Map(parts.flat());
    },

    forget: (nodeId) =>
      on(nodeId, 'forget-node', (shard) => {
        const now = shard.now();
        const node = shard.state.nodes.get(nodeId, now);
        shard.state.leases.delete(nodeId);
        shard.state.marks.delete(nodeId);
        if (node === undefined) return;
        node.capacity = undefined;
        if (node.credential === undefined) shard.state.nodes.expire(nodeId, now + GENERATION_MEMORY_MS);
      }),

    reassert: (nodeId, lease, ttlMs, isTaken) =>
      on(nodeId, 'reassert-lease', (shard): Load | undefined => {
        const now = shard.now();
        const capacity = shard.state.nodes.get(nodeId, now)?.capacity;
        const before = sweep(shard, nodeId, now);
        const wasHeld = before?.has(lease) === true;
        const until = Math.max(before?.get(lease) ?? 0, now + ttlMs);
        const leases = before ?? new Map<LeaseId, number>();
        leases.set(lease, until);
        // In an emptied store drivers may be quicker than the holder of the node. Should it never come back, nothing stays.
        if (before === undefined) shard.state.leases.put(nodeId, leases, now + (capacity ? idleMs : ttlMs));
        else if (capacity === undefined) lengthen(shard, nodeId, now, ttlMs);
        if (capacity === undefined) return undefined;
        // A report that came while the lease was lost counted its job as well.
        if (!wasHeld) {
          const marks = shard.state.marks.get(nodeId, now);
          if ((marks?.reported.size ?? 0) < capacity.reported - capacity.released) {
            marksOf(shard, nodeId, now, idleMs).reported.add(lease);
          }
        }
        if (isTaken) noteCommitted(marksOf(shard, nodeId, now, idleMs), lease, now);
        return loadOf(capacity, leases.size);
      }),
  };
}

const NO_NODE: StoredNode = {
  capacity: undefined,
  credential: undefined,
  generation: undefined,
  orders: undefined,
};

const loadOf = ({ slots, reported, released }: Capacity, held: number): Load => ({
  used: Math.max(held, reported - released),
  max: slots,
});

const NEVER = Number.POSITIVE_INFINITY;
const NO_LEASES: ReadonlyMap<LeaseId, number> = new Map();

function reconcile(
  shard: Shard,
  nodeId: NodeId,
  { running, claim, runningJobIds, ageMs = 0, takenMs = NEVER }: LoadReport,
  idleMs: number,
): Load | undefined {
  const now = shard.now();
  const { nodes, leases: all, marks: allMarks } = shard.state;
  const { capacity, generation = 0 } = nodes.get(nodeId, now) ?? NO_NODE;
  if (capacity === undefined) return undefined;
  if (claim !== undefined && claim < Math.max(capacity.claim, generation))
    return loadOf(capacity, liveOf(shard, nodeId, now));
  const leases = sweep(shard, nodeId, now);
  if (runningJobIds !== undefined) {
    const isRunning = new Set(runningJobIds);
    const marks = allMarks.get(nodeId, now);
    // Only abandoned or committed leases: the job of a reserved one may not have reached the node when it wrote its report.
    for (const [since, latest] of [
      [marks?.abandoned, now - ageMs],
      [marks?.committed, now - takenMs],
    ] as const)
      for (const [lease, at] of [...(since ?? NO_LEASES)]) {
        if (isRunning.has(leaseJob(lease)) || at > latest) continue;
        leases?.delete(lease);
        unmark(marks, lease);
      }
  }
  if (leases !== undefined && leases.size > 0) {
    const { reported } = marksOf(shard, nodeId, now, idleMs);
    for (const lease of leases.keys()) reported.add(lease);
  }
  capacity.reported = running;
  capacity.released = 0;
  for (const shelf of [nodes, all]) {
    if (shelf.until(nodeId, now) < now + idleMs / 2) shelf.expire(nodeId, now + idleMs);
  }
  return { used: Math.max(leases?.size ?? 0, running), max: capacity.slots };
}
