/**
 * Hot path, when it ends badly: whoever finds no slot has nodes looked at again that seem to be full.
 *
 * How full nodes are is sent as a hint between instances, and hints may be lost. One that seems full is not tried, so no answer of the
 * ledger corrects that, and its own report may be many seconds away. So some of them are asked about, one round at a time, for as
 * long as anybody waits; what is found free wakes whoever waits for it.
 */

import { hasBit } from '../../domain/bits.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { CapacityLedger } from '../../ports/capacity-ledger.ts';
import type { Log } from '../../ports/log.ts';
import type { TimerWheel } from '../attempts/timer-wheel.ts';
import type { FleetView } from '../fleet/fleet-view.ts';

export interface RefreshFullNodes {
  /** Nobody had a slot for a job, as far as anybody here knows. Returns at once. */
  needed(): void;
}

const READ_DELAY_MS = 500;
/** Nodes of one look. All of a large fleet that is busy have their turn in the time between two reports. */
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
  /** Where the last look ended: the next one goes on from there. */
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
      log.debug({ nodes: nodeIds.length, err: fault }, 'nodes that seem full could not be looked at again');
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
