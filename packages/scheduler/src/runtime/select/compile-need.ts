/** Hot path: a need compiled for matching against the fleet. Equal needs share one standing query. */

import { hasBit } from '../../domain/bits.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { Need } from '../../domain/need.ts';
import type { Region } from '../../domain/region.ts';
import { factKey } from '../fleet/fact-key.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import type { StandingQuery } from '../fleet/standing-queries.ts';
import { leadsTo, type PoolMap, type PoolRoute } from '../pools/pool-map.ts';
import { clausesOf } from './clauses.ts';

/** Stays valid as long as the job lives: it follows changes of the fleet. */
export interface CompiledNeed {
  readonly fleet: FleetView;
  readonly need: Need;
  /** See `updateQuery`. */
  query: StandingQuery;
  /** The query counts nodes that are private to the tenant: there is one, or was. */
  hasOwnNodes: boolean;
  /** The pool map of `route`; see `routeOf`. */
  poolMap: PoolMap | undefined;
  route: PoolRoute | undefined;
}

export function compileNeed(fleet: FleetView, need: Need): CompiledNeed {
  const hasOwnNodes = findOwnNodes(fleet, need);
  const query = findQuery(fleet, need, hasOwnNodes);
  return { fleet, need, query, hasOwnNodes, poolMap: undefined, route: undefined };
}

/** Only tenants with private nodes have queries of their own, so that the number of queries does not grow with the tenants. */
const findOwnNodes = ({ table: { facts } }: FleetView, { tenantId }: Need): boolean =>
  facts.isKnown(factKey.private) && facts.isKnown(factKey.privateTo(tenantId));

/** The first private node of the tenant may have registered since the job was compiled. */
export function updateQuery(compiled: CompiledNeed): void {
  const { fleet, need, hasOwnNodes } = compiled;
  if (hasOwnNodes || !findOwnNodes(fleet, need)) return;
  compiled.hasOwnNodes = true;
  compiled.query = findQuery(fleet, need, true);
}

/** Most jobs need one direction and nothing else: their query is found without building the full key. */
function findQuery(fleet: FleetView, need: Need, hasOwnNodes: boolean): StandingQuery {
  const { queries, plainQueries } = fleet.table;
  const residency = residencyOf(fleet, need);
  const isSimple = residency === undefined && !hasOwnNodes && isPlain(need);
  const direction = isSimple ? need.directions[0] : undefined;
  const flags = flagsOf(need);
  const known = direction && plainQueries.find(flags, direction);
  if (known !== undefined) return known;
  const key = shapeOf(need, residency, hasOwnNodes);
  const query = queries.find(key) ?? queries.add(key, clausesOf(need, residency, { hasOwnNodes }));
  if (direction !== undefined) plainQueries.add(flags, direction, query);
  return query;
}

/** Every need is compiled here, so no job of the tenant, however it began, is placed outside of these regions (I10). */
export const residencyOf = ({ regions }: FleetView, { tenantId }: Need): readonly Region[] | undefined =>
  regions?.residency(tenantId);

const isPlain = ({ directions, types, services, features }: Need): boolean =>
  directions.length === 1 &&
  types.length === 0 &&
  services.length === 0 &&
  (features === undefined || features.length === 0);

/** For one evaluation: caches nothing. */
export function compileUncached(fleet: FleetView, need: Need): CompiledNeed {
  const residency = residencyOf(fleet, need);
  const query = fleet.table.queries.uncached(shapeOf(need, residency, true), clausesOf(need, residency));
  return { fleet, need, query, hasOwnNodes: true, poolMap: undefined, route: undefined };
}

/** The current route of the job: pools may have changed since the last call. Undefined: every node. */
export function routeOf(compiled: CompiledNeed): PoolRoute | undefined {
  const { pools } = compiled.fleet;
  if (pools !== compiled.poolMap) {
    compiled.poolMap = pools;
    compiled.route = pools?.route(compiled.need);
  }
  return compiled.route;
}

/** The node meets every condition of selection, including a free slot. */
export function matches(compiled: CompiledNeed, nodeId: NodeId): boolean {
  updateQuery(compiled);
  const { fleet, query } = compiled;
  const { columns, pools, queries, indexOf } = fleet.table;
  const index = indexOf(nodeId);
  if (index === -1 || !hasBit(columns.usable, index) || !queries.holds(query, index)) return false;
  const route = routeOf(compiled);
  return route === undefined || pools?.of(index).some((poolId) => leadsTo(route, poolId)) === true;
}

/**
 * The key of a query: needs that differ only in session, preference, pools, region and a tenant without own nodes share it. Names are written with their
 * length, so that no client can make two needs equal.
 */
function shapeOf(need: Need, residency: readonly Region[] | undefined, hasOwnNodes: boolean): string {
  let shape = `${flagsOf(need)}`;
  for (const region of residency ?? NO_REGIONS) shape += `r${region.length}.${region}`;
  if (hasOwnNodes) shape += `p${need.tenantId.length}.${need.tenantId}`;
  for (const { source, target } of need.directions) {
    shape += `d${source.length}.${target.length}.${source}${target}`;
  }
  for (const type of need.types) shape += `t${type.length}.${type}`;
  if (need.features !== undefined) for (const flag of need.features) shape += `f${flag.length}.${flag}`;
  for (const service of need.services) shape += `s${service.length}.${service}`;
  return shape;
}

const NO_REGIONS: readonly Region[] = [];

const flagsOf = (need: Need): number =>
  (need.isSourceAuto ? 1 : 0) |
  (need.usesAsr ? 2 : 0) |
  (need.usesNmt ? 4 : 0) |
  (need.usesTts ? 8 : 0) |
  (need.isAudioByReference ? 16 : 0) |
  (need.isPairUnknown ? 32 : 0) |
  (need.needsPublicNode ? 64 : 0) |
  (need.skipsSemantic ? 128 : 0) |
  (need.isTextInput ? 256 : 0) |
  (need.isPartial ? 512 : 0) |
  (need.isInterim ? 1024 : 0);
