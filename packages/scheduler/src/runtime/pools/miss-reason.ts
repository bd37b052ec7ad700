/** Failure path: why a pool had no candidate, as one of a few reasons. Reads the bitmaps of selection. */

import { countOnes } from '../../domain/bits.ts';
import type { Need } from '../../domain/need.ts';
import { CORE_STAGES, type CoreIds, type CoreStage, type PoolId } from '../../domain/pool.ts';
import { factKey } from '../fleet/fact-key.ts';
import type { FleetTable } from '../fleet/fleet-view.ts';
import { any, type Formula } from '../fleet/formula.ts';
import { STATUS_CLAUSES } from '../select/clauses.ts';
import type { CompiledNeed } from '../select/compile-need.ts';

/** Missing on every node of a pool, not only on its free nodes. */
export type MissReason =
  | 'no_nodes'
  | `missing_core_${CoreStage}_installed`
  | `missing_core_${CoreStage}_not_ready`
  | (string & {});

export function missReason({ fleet, need, query }: CompiledNeed, poolId: PoolId): MissReason {
  const { table, pools: poolMap } = fleet;
  const { pools } = table;
  if (pools?.roster(poolId) === undefined) return 'no_nodes';
  const left = new Uint32Array(table.columns.usable.length);
  table.facts.or(pools.key(poolId), left);
  const missing = missingCore(table, need, poolMap?.plan.core ?? {}, left);
  if (missing !== undefined) return missing;
  const most = { reason: 'excluded', count: 0 };
  let before = countAll(left);
  for (const { reason, formula } of [...query.clauses, ...STATUS_CLAUSES]) {
    table.narrow(formula, left);
    const after = countAll(left);
    if (before - after > most.count) Object.assign(most, { reason, count: before - after });
    before = after;
  }
  // The remaining nodes were tried before or are excluded from this job.
  return before > most.count ? 'excluded' : most.reason;
}

/** The core service of a stage by its id if one is configured, otherwise any service of the type. */
export const hasCore = (stage: CoreStage, id: string | undefined): Formula =>
  id === undefined ? any(factKey.hasType(stage), factKey.hasAnyType) : factKey.hasService(id);

export const hasCoreReady = (stage: CoreStage, id: string | undefined): Formula =>
  id === undefined ? any(factKey.readyType(stage), factKey.readyAnyType) : factKey.readyService(id);

function missingCore(
  table: FleetTable,
  need: Need,
  core: CoreIds,
  pool: Uint32Array,
): MissReason | undefined {
  const uses = { asr: need.usesAsr, nmt: need.usesNmt, tts: need.usesTts };
  for (const stage of CORE_STAGES) {
    if (!uses[stage]) continue;
    if (!isAnyOf(table, pool, hasCore(stage, core[stage]))) return `missing_core_${stage}_installed`;
    if (!isAnyOf(table, pool, hasCoreReady(stage, core[stage]))) return `missing_core_${stage}_not_ready`;
  }
  return undefined;
}

function isAnyOf(table: FleetTable, pool: Uint32Array, formula: Formula): boolean {
  const left = pool.slice();
  table.narrow(formula, left);
  return left.some((word) => word !== 0);
}

function countAll(words: Uint32Array): number {
  let count = 0;
  for (const word of words) count += countOnes(word);
  return count;
}
