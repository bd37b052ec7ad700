/** The capacity ledger of one process: the product on one machine, and the readable specification of the Redis one. */
import type { NodeId } from '../../domain/ids.ts';
import { type Load, leaseJob } from '../../domain/lease.ts';
import { NodeMap } from '../../domain/node-map.ts';
import { NodeNumbers } from '../../domain/node-numbers.ts';
import { NOWHERE } from '../../domain/numbered-places.ts';
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
import { Leases, UNFENCED, UNTAKEN } from './leases.ts';

interface Entry {
  /** The node's, under which its leases are chained. */
  number: number;
  leases: number;
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
 * integers, which cost no memory of their own. `numbers`: those that selection has, so that a node it chose is found by its number.
 */
export function createCapacityLedger(deps: { clock: Clock; numbers?: NodeNumbers }): CapacityLedger {
  const entries = new NodeMap<Entry>(deps.numbers ?? new NodeNumbers());
  const leases = new Leases();
  const begunAt = deps.clock.now();

  const time = (): number => deps.clock.now() - begunAt;

  function live(nodeId: NodeId, now = time()): Entry | undefined {
    const entry = entries.get(nodeId);
    if (entry !== undefined) dropExpired(entry, now);
    return entry;
  }

  function take(entry: Entry, lease: string, expiresAt: number): void {
    leases.add(entry.number, lease, expiresAt);
    entry.leases += 1;
    if (expiresAt < entry.earliestExpiry) entry.earliestExpiry = expiresAt;
  }

  function drop(entry: Entry, lease: number): void {
    leases.remove(lease);
    entry.leases -= 1;
  }

  function dropIf(entry: Entry, isOver: (lease: number) => boolean): void {
    for (let lease = leases.first(entry.number); lease !== NOWHERE; ) {
      const after = leases.after(lease);
      if (isOver(lease)) drop(entry, lease);
      lease = after;
    }
  }

  function dropExpired(entry: Entry, now: number): void {
    if (now < entry.earliestExpiry) return;
    let earliest = NEVER;
    dropIf(entry, (lease) => {
      const expiresAt = leases.expiresAt[lease] as number;
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
    dropIf(entry, (lease) => {
      const fencedAt = leases.fencedAt[lease] as number;
      const takenAt = leases.takenAt[lease] as number;
      const isFenced = fencedAt !== UNFENCED && fencedAt <= now - ageMs;
      if (!isFenced && !(takenAt !== UNTAKEN && takenAt <= now - takenMs)) return false;
      running ??= new Set(runningJobIds);
      return !running.has(leaseJob(leases.idAt(lease)));
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
        number: NOWHERE,
        leases: 0,
        slots: capacity.slots,
        isAccepting: capacity.isAccepting,
        claim,
        earliestExpiry: NEVER,
        reported: 0,
        releasedSinceReport: 0,
      };
      fresh.number = entries.set(nodeId, fresh);
      return load(fresh);
    },

    reserve(nodeId, lease, ttlMs): ReserveResult {
      const now = time();
      const entry = live(nodeId, now);
      if (entry === undefined) return { kind: 'unknown_node' };
      const held = leases.find(entry.number, lease);
      if (held !== NOWHERE) {
        leases.expiresAt[held] = Math.max(leases.expiresAt[held] as number, now + ttlMs);
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
      const held = leases.find(entry.number, lease);
      if (held !== NOWHERE) {
        const expiresAt = now + ttlMs;
        leases.expiresAt[held] = expiresAt;
        leases.fencedAt[held] = UNFENCED;
        if (leases.takenAt[held] === UNTAKEN) leases.takenAt[held] = now;
        if (expiresAt < entry.earliestExpiry) entry.earliestExpiry = expiresAt;
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
      const held = leases.find(entry.number, lease);
      if (held === NOWHERE) return { kind: 'absent', used: used(entry), max: entry.slots };
      if (leases.isReported[held] === 1) entry.releasedSinceReport += 1;
      drop(entry, held);
      return { kind: 'released', used: used(entry), max: entry.slots };
    },

    async fence(nodeId, lease): Promise<void> {
      const entry = live(nodeId);
      const held = entry === undefined ? NOWHERE : leases.find(entry.number, lease);
      if (held !== NOWHERE && leases.fencedAt[held] === UNFENCED) leases.fencedAt[held] = time();
    },

    async reconcile(nodeId: NodeId, report: LoadReport): Promise<Load | undefined> {
      const entry = live(nodeId);
      if (entry === undefined) return undefined;
      if (report.claim !== undefined && report.claim < entry.claim) return load(entry);
      if (report.runningJobIds !== undefined) dropProvenGone(entry, report.runningJobIds, report);
      entry.reported = report.running;
      entry.releasedSinceReport = 0;
      for (let lease = leases.first(entry.number); lease !== NOWHERE; lease = leases.after(lease))
        leases.isReported[lease] = 1;
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
