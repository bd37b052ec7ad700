/** The capacity ledger of one process: the product on one machine, and the readable specification of the Redis one. */
import type { NodeId } from '../../domain/ids.ts';
import { type LeaseId, type Load, leaseJob } from '../../domain/lease.ts';
import { NodeNumbers, UNNUMBERED } from '../../domain/numbered/node-numbers.ts';
import { NOWHERE } from '../../domain/numbered/numbered-places.ts';
import type {
  CapacityLedger,
  CommitResult,
  LoadReport,
  NodeCapacity,
  ReleaseResult,
  ReserveResult,
} from '../../ports/capacity-ledger.ts';
import type { Clock } from '../../ports/clock.ts';
import { Leases, UNMARKED } from './leases.ts';
import {
  ACCEPTING,
  CLAIM,
  EARLIEST_EXPIRY,
  LEASES,
  NodeAccounts,
  RELEASED_SINCE_REPORT,
  REPORTED,
  SLOTS,
} from './node-accounts.ts';

/** Returns at once, for the mailboxes of the same process. */
export interface MemoryCapacityLedger extends CapacityLedger {
  commit(nodeId: NodeId, lease: LeaseId, ttlMs: number, isLate?: boolean): CommitResult;
}

/**
 * The hot methods return values, because a promise would cost more than their work. Times count from the start of the ledger: small
 * integers are not allocated on the heap. `numbers`: shared with selection, so that a chosen node is found by its number.
 */
export function createCapacityLedger(deps: { clock: Clock; numbers?: NodeNumbers }): MemoryCapacityLedger {
  const accounts = new NodeAccounts(deps.numbers ?? new NodeNumbers());
  const leases = new Leases();
  const begunAt = deps.clock.now();

  const time = (): number => deps.clock.now() - begunAt;

  /** Its number. UNNUMBERED: the ledger does not know the node. */
  function live(nodeId: NodeId, now = time()): number {
    const node = accounts.find(nodeId);
    if (node !== UNNUMBERED && now >= accounts.read(node, EARLIEST_EXPIRY)) dropExpired(node, now);
    return node;
  }

  function find(nodeId: NodeId, lease: LeaseId): number {
    const node = live(nodeId);
    return node === UNNUMBERED ? NOWHERE : leases.find(node, lease);
  }

  function used(node: number): number {
    const reported = accounts.read(node, REPORTED) - accounts.read(node, RELEASED_SINCE_REPORT);
    return Math.max(accounts.read(node, LEASES), reported);
  }

  const load = (node: number): Load => ({ used: used(node), max: accounts.read(node, SLOTS) });

  function expireBy(node: number, at: number): void {
    if (at < accounts.read(node, EARLIEST_EXPIRY)) accounts.write(node, EARLIEST_EXPIRY, at);
  }

  function take(node: number, lease: string, expiresAt: number): void {
    leases.add(node, lease, expiresAt);
    accounts.write(node, LEASES, accounts.read(node, LEASES) + 1);
    expireBy(node, expiresAt);
  }

  function drop(node: number, lease: number): void {
    leases.remove(lease);
    accounts.write(node, LEASES, accounts.read(node, LEASES) - 1);
  }

  function dropIf(node: number, isOver: (lease: number) => boolean): void {
    for (let lease = leases.first(node); lease !== NOWHERE; ) {
      const after = leases.after(lease);
      if (isOver(lease)) drop(node, lease);
      lease = after;
    }
  }

  function dropExpired(node: number, now: number): void {
    let earliest = NEVER;
    dropIf(node, (lease) => {
      const expiresAt = leases.expiresAt[lease] as number;
      if (expiresAt <= now) return true;
      if (expiresAt < earliest) earliest = expiresAt;
      return false;
    });
    accounts.write(node, EARLIEST_EXPIRY, earliest);
  }

  /** Only abandoned or committed leases: the job of a reserved one may not have reached the node when it wrote its report. */
  function dropProvenGone(
    node: number,
    runningJobIds: readonly string[],
    { ageMs = 0, takenMs = NEVER }: LoadReport,
  ): void {
    const now = time();
    let running: Set<string> | undefined;
    dropIf(node, (lease) => {
      const abandonedAt = leases.abandonedAt[lease] as number;
      const committedAt = leases.committedAt[lease] as number;
      const isAbandoned = abandonedAt !== UNMARKED && abandonedAt <= now - ageMs;
      if (!isAbandoned && !(committedAt !== UNMARKED && committedAt <= now - takenMs)) return false;
      running ??= new Set(runningJobIds);
      return !running.has(leaseJob(leases.idAt(lease)));
    });
  }

  return {
    async declare(nodeId: NodeId, capacity: NodeCapacity): Promise<Load> {
      const { claim = 0 } = capacity;
      let node = live(nodeId);
      if (node === UNNUMBERED) {
        node = accounts.open(nodeId);
        accounts.write(node, EARLIEST_EXPIRY, NEVER);
      } else if (claim !== 0 && claim < accounts.read(node, CLAIM)) return load(node);
      accounts.write(node, CLAIM, Math.max(accounts.read(node, CLAIM), claim));
      accounts.write(node, SLOTS, capacity.slots);
      accounts.write(node, ACCEPTING, capacity.isAccepting ? 1 : 0);
      return load(node);
    },

    reserve(nodeId, lease, ttlMs): ReserveResult {
      const now = time();
      const node = live(nodeId, now);
      if (node === UNNUMBERED) return { kind: 'unknown_node' };
      const held = leases.find(node, lease);
      const max = accounts.read(node, SLOTS);
      if (held !== NOWHERE) {
        leases.expiresAt[held] = Math.max(leases.expiresAt[held] as number, now + ttlMs);
        return { kind: 'already', used: used(node), max };
      }
      if (accounts.read(node, ACCEPTING) === 0) return { kind: 'not_ready' };
      if (used(node) >= max) return { kind: 'full', used: used(node), max };
      take(node, lease, now + ttlMs);
      return { kind: 'reserved', used: used(node), max };
    },

    commit(nodeId, lease, ttlMs, isLate = false): CommitResult {
      const now = time();
      const node = live(nodeId, now);
      if (node === UNNUMBERED) return { kind: 'unknown_node' };
      let held = leases.find(node, lease);
      const max = accounts.read(node, SLOTS);
      if (!isLate && held === NOWHERE) return { kind: 'absent', used: used(node), max };
      if (!isLate && leases.abandonedAt[held] !== UNMARKED)
        return { kind: 'abandoned', used: used(node), max };
      if (held === NOWHERE) {
        // Compared with the leases alone: the node's report may already count this job.
        if (accounts.read(node, LEASES) >= max) return { kind: 'full', used: used(node), max };
        take(node, lease, now + ttlMs);
        held = leases.find(node, lease);
      }
      leases.expiresAt[held] = Math.max(leases.expiresAt[held] as number, now + ttlMs);
      leases.abandonedAt[held] = UNMARKED;
      if (leases.committedAt[held] === UNMARKED) leases.committedAt[held] = now;
      return { kind: 'committed', used: used(node), max };
    },

    release(nodeId, lease): ReleaseResult {
      const node = live(nodeId);
      if (node === UNNUMBERED) return { kind: 'unknown_node' };
      const held = leases.find(node, lease);
      const max = accounts.read(node, SLOTS);
      if (held === NOWHERE) return { kind: 'absent', used: used(node), max };
      if (leases.isReported[held] === 1)
        accounts.write(node, RELEASED_SINCE_REPORT, accounts.read(node, RELEASED_SINCE_REPORT) + 1);
      drop(node, held);
      return { kind: 'released', used: used(node), max };
    },

    async abandon(nodeId, lease, endsInMs = NEVER): Promise<void> {
      const held = find(nodeId, lease);
      if (held === NOWHERE) return;
      const now = time();
      if (leases.abandonedAt[held] === UNMARKED) leases.abandonedAt[held] = now;
      const expiresAt = Math.min(leases.expiresAt[held] as number, now + endsInMs);
      leases.expiresAt[held] = expiresAt;
      expireBy(accounts.find(nodeId), expiresAt);
    },

    async reconcile(nodeId: NodeId, report: LoadReport): Promise<Load | undefined> {
      const node = live(nodeId);
      if (node === UNNUMBERED) return undefined;
      if (report.claim !== undefined && report.claim < accounts.read(node, CLAIM)) return load(node);
      if (report.runningJobIds !== undefined) dropProvenGone(node, report.runningJobIds, report);
      accounts.write(node, REPORTED, report.running);
      accounts.write(node, RELEASED_SINCE_REPORT, 0);
      for (let lease = leases.first(node); lease !== NOWHERE; lease = leases.after(lease))
        leases.isReported[lease] = 1;
      return load(node);
    },

    async loads(nodeIds): Promise<ReadonlyMap<NodeId, Load>> {
      const found = new Map<NodeId, Load>();
      for (const nodeId of nodeIds) {
        const node = live(nodeId);
        if (node !== UNNUMBERED) found.set(nodeId, load(node));
      }
      return found;
    },

    async forget(nodeId): Promise<void> {
      const node = accounts.find(nodeId);
      if (node === UNNUMBERED) return;
      dropIf(node, () => true);
      accounts.close(node);
    },
  };
}

const NEVER = Number.POSITIVE_INFINITY;
