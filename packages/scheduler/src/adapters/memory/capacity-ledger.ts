/** The capacity ledger of one process: the product on one machine, and the readable specification of the Redis one. */
import type { NodeId } from '../../domain/ids.ts';
import { type Load, leaseJob } from '../../domain/lease.ts';
import {
  type CapacityLedger,
  type CommitResult,
  type LoadReport,
  type NodeCapacity,
  RETAKEN_MS,
  type ReleaseResult,
  type ReserveResult,
} from '../../ports/capacity-ledger.ts';
import type { Clock } from '../../ports/clock.ts';
import { createLeases, type Holder, type Lease, UNFENCED, UNTAKEN } from './leases.ts';

interface Entry extends Holder {
  slots: number;
  isAccepting: boolean;
  claim: number;
  /** No lease expires before this, so most calls need not look at them all. */
  earliestExpiry: number;
  reported: number;
  releasedSinceReport: number;
}

/**
 * The hot methods answer at once: a promise would cost more than their work. Times count from the ledger's beginning: they stay small
 * integers, which cost no memory of their own.
 */
export function createCapacityLedger(deps: { clock: Clock }): CapacityLedger {
  const entries = new Map<NodeId, Entry>();
  const leases = createLeases();
  const begunAt = deps.clock.now();

  const time = (): number => deps.clock.now() - begunAt;

  function live(nodeId: NodeId, now = time()): Entry | undefined {
    const entry = entries.get(nodeId);
    if (entry !== undefined) dropExpired(entry, now);
    return entry;
  }

  function take(entry: Entry, lease: string, expiresAt: number): void {
    leases.add(entry, lease, expiresAt);
    if (expiresAt < entry.earliestExpiry) entry.earliestExpiry = expiresAt;
  }

  function dropIf(entry: Entry, isOver: (lease: Lease) => boolean): void {
    for (let lease = entry.first; lease !== undefined; ) {
      const { after } = lease;
      if (isOver(lease)) leases.remove(lease);
      lease = after;
    }
  }

  function dropExpired(entry: Entry, now: number): void {
    if (now < entry.earliestExpiry) return;
    let earliest = NEVER;
    dropIf(entry, ({ expiresAt }) => {
      if (expiresAt <= now) return true;
      if (expiresAt < earliest) earliest = expiresAt;
      return false;
    });
    entry.earliestExpiry = earliest;
  }

  /** Only what is fenced or was taken: a lease that is merely reserved may not have reached the node when it wrote its report. */
  function dropProvenGone(
    entry: Entry,
    runningJobIds: readonly string[],
    { ageMs = 0, takenMs = NEVER }: LoadReport,
  ): void {
    const now = time();
    let running: Set<string> | undefined;
    dropIf(entry, ({ id, fencedAt, takenAt }) => {
      const isFenced = fencedAt !== UNFENCED && fencedAt <= now - ageMs;
      if (!isFenced && !(takenAt !== UNTAKEN && takenAt <= now - takenMs)) return false;
      running ??= new Set(runningJobIds);
      return !running.has(leaseJob(id));
    });
  }

  return {
    async declare(nodeId: NodeId, capacity: NodeCapacity): Promise<Load> {
      const entry = live(nodeId);
      const { claim = 0 } = capacity;
      if (entry !== undefined) {
        if (claim !== 0 && claim < entry.claim) return load(entry);
        entry.claim = Math.max(entry.claim, claim);
        entry.slots = capacity.slots;
        entry.isAccepting = capacity.isAccepting;
        return load(entry);
      }
      const fresh: Entry = {
        slots: capacity.slots,
        isAccepting: capacity.isAccepting,
        claim,
        first: undefined,
        leases: 0,
        earliestExpiry: NEVER,
        reported: 0,
        releasedSinceReport: 0,
      };
      entries.set(nodeId, fresh);
      return load(fresh);
    },

    reserve(nodeId, lease, ttlMs): ReserveResult {
      const now = time();
      const entry = live(nodeId, now);
      if (entry === undefined) return { kind: 'unknown_node' };
      const held = leases.find(entry, lease);
      if (held !== undefined) {
        held.expiresAt = Math.max(held.expiresAt, now + ttlMs);
        return { kind: 'already', used: used(entry), max: entry.slots };
      }
      if (!entry.isAccepting) return { kind: 'not_ready' };
      if (used(entry) >= entry.slots) return { kind: 'full', used: used(entry), max: entry.slots };
      take(entry, lease, now + ttlMs);
      return { kind: 'reserved', used: used(entry), max: entry.slots };
    },

    commit(nodeId, lease, ttlMs): CommitResult {
      const now = time();
      const entry = live(nodeId, now);
      if (entry === undefined) return { kind: 'unknown_node' };
      const held = leases.find(entry, lease);
      if (held !== undefined) {
        held.expiresAt = now + ttlMs;
        held.fencedAt = UNFENCED;
        if (held.takenAt === UNTAKEN) held.takenAt = now;
        if (held.expiresAt < entry.earliestExpiry) entry.earliestExpiry = held.expiresAt;
        return { kind: 'committed', used: used(entry), max: entry.slots };
      }
      // Against leases alone: the report may count this very job, which would then stand in its own way.
      if (entry.leases >= entry.slots) return { kind: 'lost', used: used(entry), max: entry.slots };
      take(entry, lease, now + Math.min(ttlMs, RETAKEN_MS));
      return { kind: 'retaken', used: used(entry), max: entry.slots };
    },

    release(nodeId, lease): ReleaseResult {
      const entry = live(nodeId);
      if (entry === undefined) return { kind: 'unknown_node' };
      const held = leases.find(entry, lease);
      if (held === undefined) return { kind: 'absent', used: used(entry), max: entry.slots };
      leases.remove(held);
      if (held.isReported) entry.releasedSinceReport += 1;
      return { kind: 'released', used: used(entry), max: entry.slots };
    },

    async fence(nodeId, lease): Promise<void> {
      const entry = live(nodeId);
      const held = entry && leases.find(entry, lease);
      if (held?.fencedAt === UNFENCED) held.fencedAt = time();
    },

    async reconcile(nodeId: NodeId, report: LoadReport): Promise<Load | undefined> {
      const entry = live(nodeId);
      if (entry === undefined) return undefined;
      if (report.claim !== undefined && report.claim < entry.claim) return load(entry);
      if (report.runningJobIds !== undefined) dropProvenGone(entry, report.runningJobIds, report);
      entry.reported = report.running;
      entry.releasedSinceReport = 0;
      for (let lease = entry.first; lease !== undefined; lease = lease.after) lease.isReported = true;
      return load(entry);
    },

    async loads(nodeIds): Promise<ReadonlyMap<NodeId, Load>> {
      const found = new Map<NodeId, Load>();
      for (const nodeId of nodeIds) {
        const entry = live(nodeId);
        if (entry !== undefined) found.set(nodeId, load(entry));
      }
      return found;
    },

    async forget(nodeId): Promise<void> {
      const entry = entries.get(nodeId);
      if (entry === undefined) return;
      dropIf(entry, () => true);
      entries.delete(nodeId);
    },
  };
}

const NEVER = Number.POSITIVE_INFINITY;

const used = (entry: Entry): number => Math.max(entry.leases, entry.reported - entry.releasedSinceReport);

const load = (entry: Entry): Load => ({ used: used(entry), max: entry.slots });
