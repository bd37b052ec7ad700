/** Cold path: whether a node could perform a job, now or as soon as it has a free slot. */
import { hasBit, lowestOne } from '../../domain/bits.ts';
import type { Need } from '../../domain/need.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { leadsTo } from '../pools/pool-map.ts';
import { compileNeed, routeOf } from '../select/compile-need.ts';

/**
 * `willing`: it would take new jobs if it had a free slot. `up`: it is connected and not cordoned, so its present state may pass.
 */
export type Readiness = 'willing' | 'up';

/** A node has all that the job needs, the tenant may use it, and the pools of the job lead to it. */
export function canRun(fleet: FleetView, need: Need, readiness: Readiness): boolean {
  const compiled = compileNeed(fleet, need);
  const { columns, facts, pools, queries } = fleet.table;
  const fitting = queries.words(compiled.query);
  const route = routeOf(compiled);
  const isReady = (index: number): boolean =>
    readiness === 'willing'
      ? hasBit(columns.willing, index)
      : facts.has('connected', index) && !facts.has('offline', index) && !facts.has('cordoned', index);
  const isReachable = (index: number): boolean =>
    route === undefined || pools?.of(index).some((poolId) => leadsTo(route, poolId)) === true;
  for (let word = 0; word < fitting.length; word++) {
    for (let rest = fitting[word] as number; rest !== 0; rest &= rest - 1) {
      const index = word * 32 + lowestOne(rest);
      if (isReady(index) && isReachable(index)) return true;
    }
  }
  return false;
}
