/** Hot path: slots this instance gave back for good, or left to a node that may still work, a moment ago, for a ledger that forgets it in a failover. Bounded by time and count. */
import type { NodeId } from '../../domain/ids.ts';
import type { LeaseId } from '../../domain/lease.ts';
import type { Clock } from '../../ports/clock.ts';

export interface RecentlyReleased {
  note(nodeId: NodeId, lease: LeaseId): void;
  clear(): void;
  all(): readonly (readonly [lease: LeaseId, nodeId: NodeId])[];
}

/** In two halves, so that nobody has to look for what is old: one is filled, and when its time is over the other is forgotten. */
export function createRecentlyReleased(deps: {
  clock: Clock;
  /** Each is known for so long, and for less than twice as long. */
  keepMs: number;
  maxCount: number;
}): RecentlyReleased {
  const { clock, keepMs } = deps;
  let older = new Map<LeaseId, NodeId>();
  let newer = new Map<LeaseId, NodeId>();
  let begunAt = clock.now();

  function turn(now: number): void {
    const age = now - begunAt;
    if (age < keepMs && newer.size < deps.maxCount / 2) return;
    older = age < 2 * keepMs ? newer : new Map();
    newer = new Map();
    begunAt = now;
  }

  return {
    note(nodeId, lease) {
      turn(clock.now());
      newer.set(lease, nodeId);
    },
    clear() {
      older = new Map();
      newer = new Map();
    },
    all() {
      turn(clock.now());
      return [...older, ...newer];
    },
  };
}
