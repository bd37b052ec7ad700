/** Cold path: the current pools and the state of their nodes, in one pass over the fleet. Changes nothing. */

import { hasBit } from '../../domain/bits.ts';
import type { NodeId } from '../../domain/ids.ts';
import {
  CORE_STAGES,
  type CoreIds,
  type PoolId,
  type PoolPlan,
  poolIdsOf,
  UNPOOLED,
} from '../../domain/pool.ts';
import { factKey } from '../fleet/fact-key.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { all, type Formula, none } from '../fleet/formula.ts';
import { createRoster, type Roster } from '../fleet/roster.ts';
import { hasCore, hasCoreReady } from '../pools/miss-reason.ts';

export interface PoolReading {
  readonly poolId: PoolId;
  readonly total: number;
  readonly online: number;
  readonly ready: number;
  /** Nodes per core service, or per type where no service is configured. */
  readonly installed: ReadonlyMap<string, number>;
  readonly readyServices: ReadonlyMap<string, number>;
  readonly sampleNodeIds: readonly NodeId[];
}

export interface PoolsReading {
  /** Undefined: the fleet is not divided. */
  readonly plan: PoolPlan | undefined;
  /** By pool number, also pools without nodes. */
  readonly pools: readonly PoolReading[];
  readonly unpooled: { readonly total: number; readonly sampleNodeIds: readonly NodeId[] };
}

const SAMPLES = 5;

export function readPools(fleet: FleetView, core: CoreIds): PoolsReading {
  const plan = fleet.pools?.plan;
  const { columns, facts, narrow, pools: index } = fleet.table;
  const alive = new Uint32Array(columns.usable.length);
  facts.or('alive', alive);
  const holding = (formula: Formula): Uint32Array => {
    const words = alive.slice();
    narrow(formula, words);
    return words;
  };
  const online = holding(none('offline'));
  const ready = holding('ready');
  const stages = CORE_STAGES.map((stage) => {
    const id = core[stage];
    const mark = id === undefined ? factKey.markedType(stage) : factKey.marked(id);
    return {
      name: id ?? stage,
      installed: holding(hasCore(stage, id)),
      ready: holding(all(hasCoreReady(stage, id), none(mark))),
    };
  });

  const readPool = (poolId: PoolId): PoolReading => {
    const members = index?.roster(poolId) ?? NO_EXCLUSIONS;
    return {
      poolId,
      total: members.count,
      online: countIn(members, online),
      ready: countIn(members, ready),
      installed: new Map(stages.map(({ name, installed }) => [name, countIn(members, installed)])),
      readyServices: new Map(stages.map((stage) => [stage.name, countIn(members, stage.ready)])),
      sampleNodeIds: Array.from(
        members.list.subarray(0, Math.min(members.count, SAMPLES)),
        (at) => columns.ids[at] as NodeId,
      ),
    };
  };

  if (plan === undefined) {
    const nodeIds = columns.ids.filter((nodeId) => nodeId !== undefined);
    const sampleNodeIds = nodeIds.slice(0, SAMPLES);
    return { plan, pools: [], unpooled: { total: nodeIds.length, sampleNodeIds } };
  }
  const { total, sampleNodeIds } = readPool(UNPOOLED);
  const pools = [...poolIdsOf(plan)].sort((a, b) => a - b).map(readPool);
  return { plan, pools, unpooled: { total, sampleNodeIds } };
}

const NO_EXCLUSIONS: Roster = createRoster();

function countIn({ list, count }: Roster, words: Uint32Array): number {
  let found = 0;
  for (let at = 0; at < count; at++) if (hasBit(words, list[at] as number)) found += 1;
  return found;
}
