/** Failure path: a node rejects a job as overloaded although the ledger had a free slot. */
import type { NodeId } from '../../domain/ids.ts';
import type { Engine } from '../engine.ts';
import type { Timer } from './timer-wheel.ts';

/** Short: if the node has room again at once, little is lost. */
export const OVERLOAD_PAUSE_MS = 250;

/**
 * The node is not selected for a short time, whatever the ledger says: a released lease does not prove that the node has finished
 * its work. Otherwise one waiting job after the other would be sent to it and rejected.
 */
export function createOverloadedNodes({ fleet, meter, wheel }: Engine): (nodeId: NodeId) => void {
  /** The end of each node's pause. */
  const pauses = new Map<NodeId, Timer>();

  function wake(nodeId: NodeId): void {
    pauses.delete(nodeId);
    fleet.setPaused(nodeId, false);
  }

  return (nodeId) => {
    meter.count('scheduler_node_overload_reject_total', { reason: 'full' });
    pauses.get(nodeId)?.cancel();
    fleet.setPaused(nodeId, true);
    pauses.set(
      nodeId,
      wheel.set(OVERLOAD_PAUSE_MS, () => wake(nodeId)),
    );
  };
}
