/** When leases end, and what follows from that. */
import type { NodeId } from '../../domain/ids.ts';
import type { Engine, EngineSettings } from '../engine.ts';
import type { InFlightJob } from '../in-flight-job.ts';

/**
 * How long the lease of a sent attempt is still needed. The lease ends a fixed grace after the job timeout, however often it is written:
 * a lease that started again with every write would keep its slot long after the driver has abandoned the attempt (I2).
 */
export const leaseLeftMs = (
  { sentAt }: Pick<InFlightJob, 'sentAt'>,
  { jobTimeoutMs, leaseGraceMs }: Pick<EngineSettings, 'jobTimeoutMs' | 'leaseGraceMs'>,
  now: number,
): number =>
  // A frozen instance may compute this late: a running job keeps its slot at least for the grace.
  Math.max(leaseGraceMs, Math.ceil(sentAt + jobTimeoutMs + leaseGraceMs - now));

/**
 * For an attempt that was abandoned while its node may still work on it. Redis does not report that a lease has expired, so the load of
 * the node is read when the lease must have ended.
 */
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
