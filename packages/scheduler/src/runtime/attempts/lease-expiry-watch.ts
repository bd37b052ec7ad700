/** Failure path: Redis does not report that a lease has expired, so the load of its node is read when it must have ended. */
import type { NodeId } from '../../domain/ids.ts';
import type { Engine } from '../engine.ts';

/** For an attempt that was abandoned while its node may still work on it. */
export function watchLeaseEnd(engine: Engine, nodeId: NodeId): void {
  const { abandonedLeaseMs, jobTimeoutMs, leaseGraceMs } = engine.settings;
  // Its end depends on whether it was acknowledged: two reads cost less than recording that.
  for (const delayMs of [abandonedLeaseMs, jobTimeoutMs + leaseGraceMs])
    engine.wheel.set(delayMs, () => void reload(engine, nodeId));
}

async function reload(engine: Engine, nodeId: NodeId): Promise<void> {
  try {
    const load = (await engine.ledger.loads([nodeId])).get(nodeId);
    if (load !== undefined) engine.fleet.setLoad(nodeId, load);
  } catch (fault) {
    engine.log.warn({ node_id: nodeId, err: fault }, 'cannot read the load of a node');
  }
}
