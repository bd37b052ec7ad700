/** Hot path: nobody tells when a lease ends by itself, so the view of its node is corrected when it must have ended. */
import type { NodeId } from '../../domain/ids.ts';
import type { Engine } from '../engine.ts';

/** For an attempt that was given up while its node may still work on it. */
export function watchLeaseEnd(engine: Engine, nodeId: NodeId): void {
  const { abandonedLeaseMs, jobTimeoutMs, leaseGraceMs } = engine.settings;
  // When it ends depends on whether it was acknowledged: reading twice costs less than keeping account of that.
  for (const delayMs of [abandonedLeaseMs, jobTimeoutMs + leaseGraceMs])
    engine.wheel.set(delayMs, () => void reload(engine, nodeId));
}

async function reload(engine: Engine, nodeId: NodeId): Promise<void> {
  try {
    const load = (await engine.ledger.loads([nodeId])).get(nodeId);
    if (load !== undefined) engine.fleet.setLoad(nodeId, load);
  } catch (fault) {
    engine.log.warn({ node_id: nodeId, err: fault }, 'the load of a node could not be read again');
  }
}
