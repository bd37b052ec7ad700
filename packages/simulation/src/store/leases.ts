/** Simulation: the leases of one node in a shard, and what is noted of each. */
import type { NodeId } from '../../../scheduler/dist/domain/ids.js';
import type { LeaseId } from '../../../scheduler/dist/domain/lease.js';
import type { Shard } from './servers/shard.ts';
import type { LeaseMarks } from './servers/shard-state.ts';

export function liveOf(shard: Shard, nodeId: NodeId, now: number): number {
  let live = 0;
  for (const until of shard.state.leases.get(nodeId, now)?.values() ?? NONE) if (until > now) live += 1;
  return live;
}

const NONE: readonly number[] = [];

/** What is left when those that ended are dropped with their marks. */
export function sweep(shard: Shard, nodeId: NodeId, now: number): Map<LeaseId, number> | undefined {
  const leases = shard.state.leases.get(nodeId, now);
  if (leases === undefined) return undefined;
  for (const [lease, until] of leases) {
    if (until > now) continue;
    leases.delete(lease);
    unmark(shard.state.marks.get(nodeId, now), lease);
  }
  return leases;
}

export function unmark(marks: LeaseMarks | undefined, lease: LeaseId): void {
  marks?.abandoned.delete(lease);
  marks?.reported.delete(lease);
  marks?.committed.delete(lease);
}

/** An empty set does not exist: its expiry starts again with the first lease. */
export function hold(
  shard: Shard,
  nodeId: NodeId,
  leases: Map<LeaseId, number> | undefined,
  lease: LeaseId,
  until: number,
  idleAt: number,
): void {
  if (leases === undefined) shard.state.leases.put(nodeId, new Map([[lease, until]]), idleAt);
  else {
    if (leases.size === 0) shard.state.leases.expire(nodeId, idleAt);
    leases.set(lease, until);
  }
}

export function lengthen(shard: Shard, nodeId: NodeId, now: number, ttlMs: number): void {
  if (shard.state.leases.until(nodeId, now) < now + ttlMs) shard.state.leases.expire(nodeId, now + ttlMs);
}

export function marksOf(shard: Shard, nodeId: NodeId, now: number, idleMs: number): LeaseMarks {
  const marks = shard.state.marks.get(nodeId, now) ?? {
    abandoned: new Map(),
    reported: new Set(),
    committed: new Map(),
  };
  shard.state.marks.put(nodeId, marks, now + idleMs);
  return marks;
}

/** Since when it is committed: the first time stands. */
export function noteCommitted({ committed }: LeaseMarks, lease: LeaseId, now: number): void {
  if (!committed.has(lease)) committed.set(lease, now);
}
