/** Hot path: a need made ready to be matched against the fleet. Equal needs share one standing query. */
import type { NodeId } from '../../domain/ids.ts';
import type { Need } from '../../domain/need.ts';
import { hasBit } from '../fleet/bits.ts';
import { factKey } from '../fleet/fact-key.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import type { StandingQuery } from '../fleet/standing-queries.ts';
import { clausesOf } from './clauses.ts';

/** May be kept as long as the job lives: it follows the fleet by itself. */
export interface CompiledNeed {
  readonly fleet: FleetView;
  readonly need: Need;
  readonly query: StandingQuery;
}

export function compileNeed(fleet: FleetView, need: Need): CompiledNeed {
  const { queries } = fleet.table;
  const key = shapeOf(need);
  return { fleet, need, query: queries.find(key) ?? queries.add(key, clausesOf(need)) };
}

/** Everything selection asks of a node holds for this one, a free slot included. */
export function matches({ fleet, need, query }: CompiledNeed, nodeId: NodeId): boolean {
  const { columns, facts, queries, indexOf } = fleet.table;
  const index = indexOf(nodeId);
  if (index === -1 || !hasBit(columns.usable, index) || !queries.holds(query, index)) return false;
  return need.poolIds === undefined || need.poolIds.some((poolId) => facts.has(factKey.pool(poolId), index));
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
  for (const service of need.services) shape += `s${service.length}.${service}`;
  return shape;
}
