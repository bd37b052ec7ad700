/** Hot path: the ledger as one of many instances uses it: every answer updates the other instances' view of the load, and nothing is reserved on a node whose leases a failover may have lost. */

import type { NodeId } from '../../domain/ids.ts';
import type { Load } from '../../domain/lease.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { CapacityLedger } from '../../ports/capacity-ledger.ts';
import type { Clock } from '../../ports/clock.ts';

export function guardLedger(deps: {
  ledger: CapacityLedger;
  /** Resolves when the leases of the node were written again; undefined: none was lost. */
  settled: (nodeId: NodeId) => Promise<void> | undefined;
  noteLoad: (nodeId: NodeId, load: Load, isReport?: boolean) => void;
  clock: Clock;
  /** The limit of a reserve; undefined: that of every call. */
  reserveMs: number | undefined;
}): CapacityLedger {
  const { ledger, settled, noteLoad, clock, reserveMs } = deps;

  async function noted<Answer extends object>(
    nodeId: NodeId,
    call: Promise<Answer> | Answer,
  ): Promise<Answer> {
    const answer = await call;
    if ('used' in answer && 'max' in answer) noteLoad(nodeId, answer as unknown as Load);
    return answer;
  }

  return {
    ...ledger,
    async reserve(nodeId, lease, ttlMs) {
      await settled(nodeId);
      const reserve = () => ledger.reserve(nodeId, lease, ttlMs);
      if (reserveMs === undefined) return noted(nodeId, reserve());
      return noted(
        nodeId,
        withTimeout(clock, reserveMs, 'a reserve', async () => reserve()),
      );
    },
    commit: (nodeId, lease, ttlMs, isLate) => noted(nodeId, ledger.commit(nodeId, lease, ttlMs, isLate)),
    release: (nodeId, lease) => noted(nodeId, ledger.release(nodeId, lease)),
    async reconcile(nodeId, report) {
      const load = await ledger.reconcile(nodeId, report);
      if (load !== undefined) noteLoad(nodeId, load, true);
      return load;
    },
  };
}
