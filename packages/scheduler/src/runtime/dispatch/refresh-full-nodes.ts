/**
 * Failure path: when no slot was found, reads the loads of nodes that seem full.
 *
 * Instances send the loads of nodes as hints, and hints may be lost. A node that seems full is not tried, so no reply of the ledger
 * corrects its load, and its next heartbeat may be many seconds away. So the loads of some of these nodes are read, one batch at a
 * time, while a job waits. A node that is free wakes a waiting job.
 */

import { hasBit } from '../../domain/bits.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { CapacityLedger } from '../../ports/capacity-ledger.ts';
import type { Log } from '../../ports/log.ts';
import type { TimerWheel } from '../attempts/timer-wheel.ts';
import type { FleetView } from '../fleet/fleet-view.ts';

export interface RefreshFullNodes {
  /** No node had a slot for a job, by the loads known here. Returns at once. */
  needed(): void;
}

const READ_DELAY_MS = 500;
/** Nodes per read: all nodes of a large busy fleet are read between two heartbeats. */
export const MAX_NODES_PER_READ = 64;

export function createRefreshFullNodes(deps: {
  fleet: Pick<FleetView, 'table' | 'setLoad'>;
  ledger: Pick<CapacityLedger, 'loads'>;
  wheel: Pick<TimerWheel, 'set'>;
  isAnyJobWaiting: () => boolean;
  log: Log;
}): RefreshFullNodes {
  const { fleet, ledger, wheel, log } = deps;
  let isDue = false;
  /** Where the last read ended: the next one continues there. */
  let from = 0;

  function fullNodes(): NodeId[] {
    const { columns } = fleet.table;
    const { ids } = columns;
    const found: NodeId[] = [];
    for (let seen = 0; seen < ids.length && found.length < MAX_NODES_PER_READ; seen++) {
      from = (from + 1) % ids.length;
      const nodeId = ids[from];
      const isFull = (columns.used[from] as number) >= (columns.max[from] as number);
      if (nodeId !== undefined && isFull && hasBit(columns.willing, from)) found.push(nodeId);
    }
    return found;
  }

  async function refresh(): Promise<void> {
    const nodeIds = fullNodes();
    try {
      if (nodeIds.length > 0)
        for (const [nodeId, load] of await ledger.loads(nodeIds)) fleet.setLoad(nodeId, load);
    } catch (fault) {
      log.debug({ nodes: nodeIds.length, err: fault }, 'cannot read the loads of nodes that seem full');
    }
    isDue = false;
    if (deps.isAnyJobWaiting()) needed();
  }

  function needed(): void {
    if (isDue) return;
    isDue = true;
    wheel.set(READ_DELAY_MS, () => void refresh());
  }

  return { needed };
}
