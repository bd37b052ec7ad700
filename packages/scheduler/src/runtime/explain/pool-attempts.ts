/**
 * Cold path: which pools are tried for a job, in order, and why each has no candidate. The same reasons that dispatch counts one by
 * one (pools/miss-reason.ts), but for all pools in one pass over the fleet: there may be a thousand.
 */

import { hasBit } from '../../domain/bits.ts';
import type { NodeId } from '../../domain/ids.ts';
import { CORE_STAGES, type PoolId } from '../../domain/pool.ts';
import type { Formula } from '../fleet/formula.ts';
import type { Roster } from '../fleet/roster.ts';
import { hasCore, hasCoreReady, type MissReason } from '../pools/miss-reason.ts';
import { inOrder } from '../pools/pool-map.ts';
import { STATUS_CLAUSES } from '../select/clauses.ts';
import { type CompiledNeed, routeOf } from '../select/compile-need.ts';

export interface PoolAttempt {
  readonly poolId: PoolId;
  /** `ok`, or why there is no candidate. */
  readonly reason: 'ok' | MissReason;
  readonly candidates: number;
}

/** Up to the first pool that has a candidate. Undefined: there are no pools. */
export function attemptPools(
  compiled: CompiledNeed,
  excluded: ReadonlySet<NodeId>,
): readonly PoolAttempt[] | undefined {
  const route = routeOf(compiled);
  const { pools } = compiled.fleet.table;
  if (route === undefined || pools === undefined) return undefined;
  const sieve = createSieve(compiled, excluded);
  const attempts: PoolAttempt[] = [];
  for (const poolId of inOrder(route)) {
    const tally = sieve(pools.roster(poolId));
    attempts.push({ poolId, ...tally });
    if (tally.candidates > 0) break;
  }
  return attempts;
}

type Sieve = (members: Roster | undefined) => Pick<PoolAttempt, 'reason' | 'candidates'>;

/** What concerns the whole fleet is computed once, as bitmaps; then each node is visited once. */
function createSieve({ fleet, need, query, poolMap }: CompiledNeed, excluded: ReadonlySet<NodeId>): Sieve {
  const { columns, facts, narrow } = fleet.table;
  const left = new Uint32Array(columns.usable.length);
  facts.or('alive', left);
  const uses = { asr: need.usesAsr, nmt: need.usesNmt, tts: need.usesTts };
  const core = CORE_STAGES.filter((stage) => uses[stage]).flatMap((stage) => {
    const id = poolMap?.plan.core?.[stage];
    return [
      having(`missing_core_${stage}_installed`, hasCore(stage, id)),
      having(`missing_core_${stage}_not_ready`, hasCoreReady(stage, id)),
    ];
  });
  /** The nodes left after each clause: a node's reason is the first clause it fails. */
  const steps = [...query.clauses, ...STATUS_CLAUSES].map(({ reason, formula }) => {
    narrow(formula, left);
    return { reason, words: left.slice() };
  });

  function having(reason: string, formula: Formula): { reason: string; words: Uint32Array } {
    const words = left.slice();
    narrow(formula, words);
    return { reason, words };
  }

  const kept = steps.map(({ words }) => words);

  return function sift(members) {
    if (members === undefined) return { reason: 'no_nodes', candidates: 0 };
    const lost = new Int32Array(steps.length);
    let fit = 0;
    let barred = 0;
    for (let at = 0; at < members.count; at++) {
      const index = members.list[at] as number;
      let step = 0;
      while (step < kept.length && hasBit(kept[step] as Uint32Array, index)) step += 1;
      if (step < kept.length) lost[step] = (lost[step] as number) + 1;
      else if (excluded.has(columns.ids[index] as NodeId)) barred += 1;
      else fit += 1;
    }
    if (fit > 0) return { reason: 'ok', candidates: fit };
    const missing = core.find(({ words }) => !hasAny(members, words));
    return { reason: missing?.reason ?? mainReason(steps, lost, barred), candidates: 0 };
  };
}

function mainReason(steps: readonly { reason: string }[], lost: Int32Array, barred: number): MissReason {
  let most = -1;
  for (let at = 0; at < lost.length; at++) if ((lost[at] as number) > (lost[most] ?? 0)) most = at;
  const count = lost[most] ?? 0;
  return barred > count ? 'excluded' : (steps[most]?.reason ?? 'excluded');
}

function hasAny({ list, count }: Roster, words: Uint32Array): boolean {
  for (let at = 0; at < count; at++) if (hasBit(words, list[at] as number)) return true;
  return false;
}
