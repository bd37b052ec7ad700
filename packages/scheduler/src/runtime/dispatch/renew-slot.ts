/** Hot path, hardly ever: a slot that was reserved too long ago to be used as it is. */
import type { NodeId } from '../../domain/ids.ts';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import { type CommitResult, RETAKEN_MS } from '../../ports/capacity-ledger.ts';
import { type Engine, releaseLease } from '../engine.ts';

/** One that was taken again has its slot for a moment: only now is it known that somebody wants it for longer. */
export const lasting = (
  { ledger }: Engine,
  nodeId: NodeId,
  lease: string,
  ttlMs: number,
  committed: CommitResult,
): MaybePromise<CommitResult> =>
  committed.kind === 'retaken' && ttlMs > RETAKEN_MS ? ledger.commit(nodeId, lease, ttlMs) : committed;

/** Never rejects. False: it is another's by now, or nobody can say; then it is given back to be safe. */
export async function renewSlot(engine: Engine, nodeId: NodeId, lease: string): Promise<boolean> {
  try {
    const { reservationTtlMs: ttlMs } = engine.settings;
    const first = await engine.ledger.commit(nodeId, lease, ttlMs);
    const { kind } = await lasting(engine, nodeId, lease, ttlMs, first);
    return kind === 'committed' || kind === 'retaken';
  } catch (fault) {
    engine.log.warn({ node_id: nodeId, lease, err: fault }, 'a slot that was kept long could not be renewed');
    void releaseLease(engine, nodeId, lease);
    return false;
  }
}
