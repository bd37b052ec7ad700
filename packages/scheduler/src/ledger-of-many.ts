/** Composition root: the ledger as many instances use it: every answer corrects the others' views too, and nothing is reserved where a slot may be forgotten. */
import type { NodeId } from './domain/ids.ts';
import type { Load } from './domain/lease.ts';
import type { CapacityLedger } from './ports/capacity-ledger.ts';

export function createLedgerOfMany(deps: {
  ledger: CapacityLedger;
  /** Resolves when the store knows again which slots of the node are taken; undefined: it does. */
  settled: (nodeId: NodeId) => Promise<void> | undefined;
  noteLoad: (nodeId: NodeId, load: Load, isReport?: boolean) => void;
}): CapacityLedger {
  const { ledger, settled, noteLoad } = deps;

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
    async reserve(nodeId, lease, ttlMs) {
      await settled(nodeId);
      return noted(nodeId, ledger.reserve(nodeId, lease, ttlMs));
    },
    release: (nodeId, lease) => noted(nodeId, ledger.release(nodeId, lease)),
    async reconcile(nodeId, report) {
      const load = await ledger.reconcile(nodeId, report);
      if (load !== undefined) noteLoad(nodeId, load, true);
      return load;
    },
  };
}
