/** Hot path: a reservation lasts longer than it was asked for: hardly ever because it is too old to be used as it is. */
import type { NodeId } from '../domain/ids.ts';
import { type Engine, giveBack } from './engine.ts';

/** Never rejects. False: it is another's by now, or nobody can say; then it is given back to be safe. */
export async function renewSlot(engine: Engine, nodeId: NodeId, lease: string): Promise<boolean> {
  try {
    const { kind } = await engine.ledger.commit(nodeId, lease, engine.settings.reservationTtlMs);
    return kind === 'committed' || kind === 'retaken';
  } catch (fault) {
    engine.log.warn({ node_id: nodeId, lease, err: fault }, 'a slot that was kept long could not be renewed');
    void giveBack(engine, nodeId, lease);
    return false;
  }
}

/** A node that never acknowledges has accepted the job by taking it from the wire. Never rejects. */
export async function commitUnasked(engine: Engine, nodeId: NodeId, lease: string): Promise<void> {
  const { jobTimeoutMs, leaseGraceMs } = engine.settings;
  try {
    await engine.ledger.commit(nodeId, lease, jobTimeoutMs + leaseGraceMs);
  } catch (fault) {
    engine.log.warn({ node_id: nodeId, lease, err: fault }, 'a lease could not be lengthened');
  }
}
