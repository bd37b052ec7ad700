/** Hot path: a need made ready to be matched against the fleet. Equal needs share one standing query. */

import { hasBit } from '../../domain/bits.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { Need } from '../../domain/need.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import type { StandingQuery } from '../fleet/standing-queries.ts';
import { leadsTo, type PoolMap, type PoolRoute } from '../pools/pool-map.ts';
import { clausesOf } from './clauses.ts';

/** May be kept as long as the job lives: it follows the fleet by itself. */
export interface CompiledNeed {
  readonly fleet: FleetView;
  readonly need: Need;
  readonly query: StandingQuery;
  /** As `book` knows it; see `routeOf`. */
  poolMap: PoolMap | undefined;
  route: PoolRoute | undefined;
}

export function compileNeed(fleet: FleetView, need: Need): CompiledNeed {
  return { fleet, need, query: findQuery(fleet, need), poolMap: undefined, route: undefined };
}

/** Most jobs ask for one direction and nothing special: their query is found without spelling out what they ask for. */
function findQuery(fleet: FleetView, need: Need): StandingQuery {
  const { queries, plainQueries } = fleet.table;
  const direction = isPlain(need) ? need.directions[0] : undefined;
  const flags = flagsOf(need);
  const known = direction && plainQueries.find(flags, direction);
  if (known !== undefined) return known;
  const key = shapeOf(need);
  const query = queries.find(key) ?? queries.add(key, clausesOf(need));
  if (direction !== undefined) plainQueries.add(flags, direction, query);
  return query;
}

const isPlain = ({ directions, types, services, features }: Need): boolean =>
  directions.length === 1 &&
  types.length === 0 &&
  services.length === 0 &&
  (features === undefined || features.length === 0);

/** For a look at the fleet as it is now: leaves nothing behind. */
export function compileUncached(fleet: FleetView, need: Need): CompiledNeed {
  const query = fleet.table.queries.uncached(shapeOf(need), clausesOf(need));
  return { fleet, need, query, poolMap: undefined, route: undefined };
}

/** Where the job may go now: pools may have been divided anew since it was asked last. Undefined: anywhere. */
export function routeOf(compiled: CompiledNeed): PoolRoute | undefined {
  const { pools } = compiled.fleet;
  if (pools !== compiled.poolMap) {
    compiled.poolMap = pools;
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
  let shape = `${flagsOf(need)}`;
  for (const { source, target } of need.directions) {
    shape += `d${source.length}.${target.length}.${source}${target}`;
  }
  for (const type of need.types) shape += `t${type.length}.${type}`;
  if (need.features !== undefined) for (const flag of need.features) shape += `f${flag.length}.${flag}`;
  for (const service of need.services) shape += `s${service.length}.${service}`;
  return shape;
}

const flagsOf = (need: Need): number =>
  (need.isSourceAuto ? 1 : 0) |
  (need.usesAsr ? 2 : 0) |
  (need.usesNmt ? 4 : 0) |
  (need.usesTts ? 8 : 0) |
  (need.isAudioByReference ? 16 : 0) |
  (need.isPairUnknown ? 32 : 0) |
  (need.needsPublicNode ? 64 : 0);
