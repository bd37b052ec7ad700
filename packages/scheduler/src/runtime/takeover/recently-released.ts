/**
 * Leases that this instance released or abandoned a moment ago, to repeat that if a failover of the store loses it. Bounded by time
 * and count.
 */
import type { NodeId } from '../../domain/ids.ts';
import type { LeaseId } from '../../domain/lease.ts';
import type { Clock } from '../../ports/clock.ts';

export interface RecentlyReleased {
  /** `endsAt`: when an abandoned lease ends at the latest. */
  note(nodeId: NodeId, lease: LeaseId, endsAt?: number): void;
  clear(): void;
  all(): readonly RecentLease[];
}

export interface RecentLease {
  readonly nodeId: NodeId;
  readonly lease: LeaseId;
  readonly endsAt: number | undefined;
}

/** Two maps: one is filled, and when its time is over the other one is dropped, so that no entry is looked at by its age. */
export function createRecentlyReleased(deps: {
  clock: Clock;
  /** Each is known for so long, and for less than twice as long. */
  keepMs: number;
  maxCount: number;
}): RecentlyReleased {
  const { clock, keepMs } = deps;
  let older = new Map<LeaseId, RecentLease>();
  let newer = new Map<LeaseId, RecentLease>();
  let begunAt = clock.now();

  function turn(now: number): void {
    const age = now - begunAt;
    if (age < keepMs && newer.size < deps.maxCount / 2) return;
    older = age < 2 * keepMs ? newer : new Map();
    newer = new Map();
    begunAt = now;
  }

  return {
    note(nodeId, lease, endsAt) {
      turn(clock.now());
      newer.set(lease, { nodeId, lease, endsAt });
    },
    clear() {
      older = new Map();
      newer = new Map();
    },
    all() {
      turn(clock.now());
      return [...older.values(), ...newer.values()];
    },
  };
}
