/** Cold path: the pools in force and how their nodes are, in one pass over the fleet. Changes nothing. */
import type { NodeId } from '../../domain/ids.ts';
import {
  CORE_STAGES,
  type CoreIds,
  type PoolId,
  type PoolPlan,
  poolIdsOf,
  UNPOOLED,
} from '../../domain/pool.ts';
import { hasBit } from '../fleet/bits.ts';
import { factKey } from '../fleet/fact-key.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { all, type Formula, none } from '../fleet/formula.ts';
import { hasCore, hasCoreReady } from '../pools/miss-reason.ts';

export interface PoolReading {
  readonly poolId: PoolId;
  total: number;
  online: number;
  ready: number;
  /** Core service, or its type where none is configured → nodes. */
  readonly installed: Map<string, number>;
  readonly readyServices: Map<string, number>;
  readonly sampleNodeIds: NodeId[];
}

export interface PoolsReading {
  /** Undefined: the fleet is not divided. */
  readonly plan: PoolPlan | undefined;
  /** By number, also those without nodes. */
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

  const byId = new Map<PoolId, PoolReading>();
  const blank = (poolId: PoolId): PoolReading => ({
    poolId,
    total: 0,
    online: 0,
    ready: 0,
    installed: new Map(stages.map(({ name }) => [name, 0])),
    readyServices: new Map(stages.map(({ name }) => [name, 0])),
    sampleNodeIds: [],
  });
  const ids = plan === undefined ? [] : [...poolIdsOf(plan)].sort((a, b) => a - b);
  for (const poolId of [...ids, UNPOOLED]) byId.set(poolId, blank(poolId));

  const note = (reading: PoolReading, at: number): void => {
    reading.total += 1;
    if (hasBit(online, at)) reading.online += 1;
    if (hasBit(ready, at)) reading.ready += 1;
    for (const stage of stages) {
      if (hasBit(stage.installed, at)) addOne(reading.installed, stage.name);
      if (hasBit(stage.ready, at)) addOne(reading.readyServices, stage.name);
    }
    if (reading.sampleNodeIds.length < SAMPLES) reading.sampleNodeIds.push(columns.ids[at] as NodeId);
  };
  for (let at = 0; at < columns.ids.length; at++) {
    if (columns.ids[at] === undefined) continue;
    for (const poolId of index?.of(at) ?? NOWHERE) {
      const reading = byId.get(poolId);
      if (reading !== undefined) note(reading, at);
    }
  }
  const { total, sampleNodeIds } = byId.get(UNPOOLED) as PoolReading;
  return {
    plan,
    pools: ids.map((poolId) => byId.get(poolId) as PoolReading),
    unpooled: { total, sampleNodeIds },
  };
}

const NOWHERE: readonly PoolId[] = [UNPOOLED];

const addOne = (counts: Map<string, number>, name: string): void =>
  void counts.set(name, (counts.get(name) ?? 0) + 1);
