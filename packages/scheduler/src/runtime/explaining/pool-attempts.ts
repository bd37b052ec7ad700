/**
 * Cold path: which pools a job looks into, in order, and why each has nobody. The same answers that dispatch counts one by one
 * (pools/miss-reason.ts), but for all pools in one pass over the fleet: there may be a thousand.
 */
import type { NodeId } from '../../domain/ids.ts';
import { CORE_STAGES, type PoolId } from '../../domain/pool.ts';
import { hasBit } from '../fleet/bits.ts';
import type { Formula } from '../fleet/formula.ts';
import { hasCore, hasCoreReady, type MissReason } from '../pools/miss-reason.ts';
import { inOrder } from '../pools/pool-book.ts';
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
  if (route === undefined || compiled.fleet.table.pools === undefined) return undefined;
  const tallies = tallyPools(compiled, excluded);
  const attempts: PoolAttempt[] = [];
  for (const poolId of inOrder(route)) {
    const tally = tallies.get(poolId);
    const candidates = tally?.candidates ?? 0;
    attempts.push({ poolId, candidates, reason: candidates > 0 ? 'ok' : whyNobody(tally) });
    if (candidates > 0) break;
  }
  return attempts;
}

interface Tally {
  candidates: number;
  /** Fit and usable, but kept away from this job. */
  barred: number;
  /** What no node of the pool has; the first word counts. */
  readonly missing: Set<string>;
  readonly lost: Map<string, number>;
}

function whyNobody(tally: Tally | undefined): MissReason {
  if (tally === undefined) return 'no_nodes';
  const [missing] = tally.missing;
  if (missing !== undefined) return missing;
  let most = 'excluded';
  let count = 0;
  for (const [reason, lost] of tally.lost) {
    if (lost <= count) continue;
    most = reason;
    count = lost;
  }
  return tally.barred > count ? 'excluded' : most;
}

function tallyPools(compiled: CompiledNeed, excluded: ReadonlySet<NodeId>): ReadonlyMap<PoolId, Tally> {
  const { fleet, need, query, book } = compiled;
  const { columns, facts, narrow } = fleet.table;
  const left = new Uint32Array(columns.usable.length);
  facts.or('alive', left);
  const uses = { asr: need.usesAsr, nmt: need.usesNmt, tts: need.usesTts };
  const core = CORE_STAGES.filter((stage) => uses[stage]).flatMap((stage): [string, Formula][] => {
    const id = book?.plan.core?.[stage];
    return [
      [`missing_core_${stage}_installed`, hasCore(stage, id)],
      [`missing_core_${stage}_not_ready`, hasCoreReady(stage, id)],
    ];
  });
  const tallies = new Map<PoolId, Tally>();
  const eachPool = (words: Uint32Array, note: (tally: Tally, index: number) => void): void =>
    eachMember(compiled, words, (poolId, index) => {
      const tally = tallies.get(poolId);
      if (tally !== undefined) note(tally, index);
    });

  eachMember(compiled, left, (poolId) => {
    if (tallies.has(poolId)) return;
    const missing = new Set(core.map(([word]) => word));
    tallies.set(poolId, { candidates: 0, barred: 0, missing, lost: new Map() });
  });
  for (const [word, formula] of core) {
    const having = left.slice();
    narrow(formula, having);
    eachPool(having, ({ missing }) => void missing.delete(word));
  }
  for (const { reason, formula } of [...query.clauses, ...STATUS_CLAUSES]) {
    const before = left.slice();
    narrow(formula, left);
    for (let word = 0; word < left.length; word++)
      before[word] = (before[word] as number) ^ (left[word] as number);
    eachPool(before, ({ lost }) => void lost.set(reason, (lost.get(reason) ?? 0) + 1));
  }
  eachPool(left, (tally, index) => {
    if (excluded.has(columns.ids[index] as NodeId)) tally.barred += 1;
    else tally.candidates += 1;
  });
  return tallies;
}

function eachMember(
  { fleet }: CompiledNeed,
  words: Uint32Array,
  visit: (poolId: PoolId, index: number) => void,
): void {
  const { pools } = fleet.table;
  for (let index = 0; pools !== undefined && index < words.length * 32; index++) {
    if (index % 32 === 0 && words[index >>> 5] === 0) {
      index += 31;
    } else if (hasBit(words, index)) {
      for (const poolId of pools.of(index)) visit(poolId, index);
    }
  }
}
