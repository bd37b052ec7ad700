/** Hot path, seldom: a node turns a job away because it is full, although the ledger had a slot. */
import type { NodeId } from '../../domain/ids.ts';
import type { Engine } from '../engine.ts';
import type { Timer } from './timer-wheel.ts';

/** Few jobs are sent there in vain, and not much is lost if it has room again at once. */
export const OVERLOAD_PAUSE_MS = 250;

/**
 * The node knows better: it is left alone for a moment. What the ledger says meanwhile, because a slot was given back there, is no news of what
 * it is really at work on; whoever believed that would send one waiting job after the other to be turned away.
 */
export function createOverloadedNodes({ fleet, meter, wheel }: Engine): (nodeId: NodeId) => void {
  /** Until when each rests that does. */
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
