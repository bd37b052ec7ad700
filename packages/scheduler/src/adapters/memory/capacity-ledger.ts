/** The capacity ledger of one process: the product on one machine, and the readable specification of the Redis one. */
import type { NodeId } from '../../domain/ids.ts';
import { type LeaseId, type Load, leaseJob } from '../../domain/lease.ts';
import type {
  CapacityLedger,
  CommitResult,
  LoadReport,
  NodeCapacity,
  ReleaseResult,
  ReserveResult,
} from '../../ports/capacity-ledger.ts';
import type { Clock } from '../../ports/clock.ts';

interface Lease {
  expiresAt: number;
  isFenced: boolean;
  /** Held when the node last reported: only such a one can be among the jobs it counted. */
  isReported: boolean;
}

interface Entry {
  slots: number;
  isAccepting: boolean;
  claim: number;
  readonly leases: Map<LeaseId, Lease>;
  /** No lease expires before this, so most calls need not look at them all. */
  earliestExpiry: number;
  reported: number;
  releasedSinceReport: number;
}

/**
 * The hot methods answer at once: a promise would cost more than their work.
 */
export function createCapacityLedger(deps: { clock: Clock }): CapacityLedger {
  const entries = new Map<NodeId, Entry>();

  function live(nodeId: NodeId, now = deps.clock.now()): Entry | undefined {
    const entry = entries.get(nodeId);
    if (entry !== undefined) dropExpired(entry, now);
    return entry;
  }

  function take(entry: Entry, lease: LeaseId, expiresAt: number): void {
    entry.leases.set(lease, { expiresAt, isFenced: false, isReported: false });
    entry.earliestExpiry = Math.min(entry.earliestExpiry, expiresAt);
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
        leases: new Map(),
        earliestExpiry: Number.POSITIVE_INFINITY,
        reported: 0,
        releasedSinceReport: 0,
      };
      entries.set(nodeId, fresh);
      return load(fresh);
    },

    reserve(nodeId, lease, ttlMs): ReserveResult {
      const now = deps.clock.now();
      const entry = live(nodeId, now);
      if (entry === undefined) return { kind: 'unknown_node' };
      if (entry.leases.has(lease)) return { kind: 'already', used: used(entry), max: entry.slots };
      if (!entry.isAccepting) return { kind: 'not_ready' };
      if (used(entry) >= entry.slots) return { kind: 'full', used: used(entry), max: entry.slots };
      take(entry, lease, now + ttlMs);
      return { kind: 'reserved', used: used(entry), max: entry.slots };
    },

    commit(nodeId, lease, ttlMs): CommitResult {
      const now = deps.clock.now();
      const entry = live(nodeId, now);
      if (entry === undefined) return { kind: 'unknown_node' };
      const held = entry.leases.get(lease);
      if (held !== undefined) {
        held.expiresAt = now + ttlMs;
        held.isFenced = false;
        entry.earliestExpiry = Math.min(entry.earliestExpiry, held.expiresAt);
        return { kind: 'committed', used: used(entry), max: entry.slots };
      }
      // Against leases alone: the report may count this very job, which would then stand in its own way.
      if (entry.leases.size >= entry.slots) return { kind: 'lost', used: used(entry), max: entry.slots };
      take(entry, lease, now + ttlMs);
      return { kind: 'retaken', used: used(entry), max: entry.slots };
    },

    release(nodeId, lease): ReleaseResult {
      const entry = live(nodeId);
      if (entry === undefined) return { kind: 'unknown_node' };
      const held = entry.leases.get(lease);
      entry.leases.delete(lease);
      if (held?.isReported === true) entry.releasedSinceReport += 1;
      return {
        kind: held !== undefined ? 'released' : 'absent',
        used: used(entry),
        max: entry.slots,
      };
    },

    async fence(nodeId, lease): Promise<void> {
      const held = live(nodeId)?.leases.get(lease);
      if (held !== undefined) held.isFenced = true;
    },

    async reconcile(nodeId: NodeId, report: LoadReport): Promise<Load | undefined> {
      const entry = live(nodeId);
      if (entry === undefined) return undefined;
      if (report.runningJobIds !== undefined) dropProvenGone(entry, report.runningJobIds);
      entry.reported = report.running;
      entry.releasedSinceReport = 0;
      for (const lease of entry.leases.values()) lease.isReported = true;
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
      entries.delete(nodeId);
    },
  };
}

const used = (entry: Entry): number =>
  Math.max(entry.leases.size, entry.reported - entry.releasedSinceReport);

const load = (entry: Entry): Load => ({ used: used(entry), max: entry.slots });

function dropExpired(entry: Entry, now: number): void {
  if (now < entry.earliestExpiry) return;
  let earliest = Number.POSITIVE_INFINITY;
  for (const [lease, { expiresAt }] of entry.leases) {
    if (expiresAt <= now) entry.leases.delete(lease);
    else if (expiresAt < earliest) earliest = expiresAt;
  }
  entry.earliestExpiry = earliest;
}

/** Only fenced leases: one that is merely reserved may not have reached the node when it wrote its report. */
function dropProvenGone(entry: Entry, runningJobIds: readonly string[]): void {
  let running: Set<string> | undefined;
  for (const [lease, { isFenced }] of entry.leases) {
    if (!isFenced) continue;
    running ??= new Set(runningJobIds);
    if (!running.has(leaseJob(lease))) entry.leases.delete(lease);
  }
}
