/** Hot path: a need made ready to be matched against the fleet. Equal needs share one standing query. */
import type { NodeId } from '../../domain/ids.ts';
import type { Need } from '../../domain/need.ts';
import { hasBit } from '../fleet/bits.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import type { StandingQuery } from '../fleet/standing-queries.ts';
import { leadsTo, type PoolBook, type PoolRoute } from '../pools/pool-book.ts';
import { clausesOf } from './clauses.ts';

/** May be kept as long as the job lives: it follows the fleet by itself. */
export interface CompiledNeed {
  readonly fleet: FleetView;
  readonly need: Need;
  readonly query: StandingQuery;
  /** As `book` knows it; see `routeOf`. */
  book: PoolBook | undefined;
  route: PoolRoute | undefined;
}

export function compileNeed(fleet: FleetView, need: Need): CompiledNeed {
  const { queries } = fleet.table;
  const key = shapeOf(need);
  const query = queries.find(key) ?? queries.add(key, clausesOf(need));
  return { fleet, need, query, book: undefined, route: undefined };
}

/** For a look at the fleet as it is now: leaves nothing behind. */
export function compileAside(fleet: FleetView, need: Need): CompiledNeed {
  const query = fleet.table.queries.aside(shapeOf(need), clausesOf(need));
  return { fleet, need, query, book: undefined, route: undefined };
}

/** Where the job may go now: pools may have been divided anew since it was asked last. Undefined: anywhere. */
export function routeOf(compiled: CompiledNeed): PoolRoute | undefined {
  const { pools } = compiled.fleet;
  if (pools !== compiled.book) {
    compiled.book = pools;
    compiled.route = pools?.route(compiled.need);
  }
  return compiled.route;
}

/** Everything selection asks of a node holds for this one, a free slot included. */
export function matches(compiled: CompiledNeed, nodeId: NodeId): boolean {
  const { fleet, query } = compiled;
  const { columns, pools, queries, indexOf } = fleet.table;
  const index = indexOf(nodeId);
  if (index === -1 || !hasBit(columns.usable, index) || !queries.holds(query, index)) return false;
  const route = routeOf(compiled);
  return route === undefined || pools?.of(index).some((poolId) => leadsTo(route, poolId)) === true;
}

/**
 * What two needs must have in common to share a query: tenant, session, preference and pools are not part of it.
 * Words are written with their length, so that no word a client sends can make two needs look alike.
 */
function shapeOf(need: Need): string {
  const flags =
    (need.isSourceAuto ? 1 : 0) |
    (need.usesAsr ? 2 : 0) |
    (need.usesNmt ? 4 : 0) |
    (need.usesTts ? 8 : 0) |
    (need.isAudioByReference ? 16 : 0) |
    (need.isPairUnknown ? 32 : 0) |
    (need.needsPublicNode ? 64 : 0);
  let shape = `${flags}`;
  for (const { source, target } of need.directions) {
    shape += `d${source.length}.${target.length}.${source}${target}`;
  }
  for (const type of need.types) shape += `t${type.length}.${type}`;
  if (need.features !== undefined) for (const flag of need.features) shape += `f${flag.length}.${flag}`;
  for (const service of need.services) shape += `s${service.length}.${service}`;
  return shape;
}
