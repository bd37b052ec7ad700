/** Composition root: the ledger as many instances use it: every answer corrects the others' views too, and nothing is reserved where a slot may be forgotten. */

import type { NodeId } from '../../domain/ids.ts';
import type { LeaseId, Load } from '../../domain/lease.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { CapacityLedger } from '../../ports/capacity-ledger.ts';
import type { Clock } from '../../ports/clock.ts';

/**
 * Of a reservation. Most jobs are over by then and need no commit; should this instance stand still before it has made one, whoever
 * holds the node, or heard that it has the job, keeps the slot until long after.
 */
const KEPT_SHARE = 0.4;

export function guardLedger(deps: {
  ledger: CapacityLedger;
  /** Resolves when the store knows again which slots of the node are taken; undefined: it does. */
  settled: (nodeId: NodeId) => Promise<void> | undefined;
  noteLoad: (nodeId: NodeId, load: Load, isReport?: boolean) => void;
  /** The lease lasts as long as its job may run, or is nobody's any more. */
  lasts: (nodeId: NodeId, lease: LeaseId) => void;
  /** Another instance has its socket, and keeps the slots of what runs there (cluster/slot-keeping.ts). */
  isHeldElsewhere: (nodeId: NodeId) => boolean;
  /** Every instance makes slots last of jobs that are fetched from mailboxes there. */
  lastsWhenFetched: () => boolean;
  /** How long a slot is kept for a job that is not acknowledged. */
  reservationTtlMs: number;
  clock: Clock;
  /** How long a reserve may take; undefined: as long as any call. */
  reserveMs: number | undefined;
}): CapacityLedger {
  const { ledger, settled, noteLoad, clock, reserveMs } = deps;
  const keptMs = KEPT_SHARE * deps.reservationTtlMs;

  async function noted<Answer extends object>(
    nodeId: NodeId,
    asking: Promise<Answer> | Answer,
  ): Promise<Answer> {
    const answer = await asking;
    if ('used' in answer && 'max' in answer) noteLoad(nodeId, answer as unknown as Load);
    return answer;
  }

  return {
    ...ledger,
    lastsWhenFetched: deps.lastsWhenFetched,
    commitDelayMs: (nodeId, isKept = false) =>
      isKept || deps.isHeldElsewhere(nodeId)
        ? keptMs
        : (ledger.commitDelayMs?.(nodeId) ?? Number.POSITIVE_INFINITY),
    async reserve(nodeId, lease, ttlMs) {
      await settled(nodeId);
      const reserve = () => ledger.reserve(nodeId, lease, ttlMs);
      if (reserveMs === undefined) return noted(nodeId, reserve());
      return noted(
        nodeId,
        withTimeout(clock, reserveMs, 'a reserve', async () => reserve()),
      );
    },
    async commit(nodeId, lease, ttlMs) {
      const committed = await ledger.commit(nodeId, lease, ttlMs);
      // One that was renewed in order to be sent lasts no longer than a reservation.
      const isForGood = committed.kind === 'committed' && ttlMs > deps.reservationTtlMs;
      if (isForGood || committed.kind === 'lost') deps.lasts(nodeId, lease);
      return committed;
    },
    release(nodeId, lease) {
      deps.lasts(nodeId, lease);
      return noted(nodeId, ledger.release(nodeId, lease));
    },
    async fence(nodeId, lease) {
      await ledger.fence(nodeId, lease);
      deps.lasts(nodeId, lease);
    },
    async reconcile(nodeId, report) {
      const load = await ledger.reconcile(nodeId, report);
      if (load !== undefined) noteLoad(nodeId, load, true);
      return load;
    },
  };
}
