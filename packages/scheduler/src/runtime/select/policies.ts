/** Hot path: which of a few sampled nodes to try first. Pure; randomness is an argument. */
import type { Chance } from '../../ports/chance.ts';
import type { Columns } from '../fleet/columns.ts';

/** Chooses one of the first `count` node numbers in `picked`. All of them have a free slot. */
export type Policy = (
  columns: Pick<Columns, 'used' | 'max' | 'free'>,
  picked: Int32Array,
  count: number,
  chance: Chance,
) => number;

export type PolicyName = 'weighted_random' | 'least_loaded';

export const POLICIES: Readonly<Record<PolicyName, Policy>> = {
  weighted_random: weightedRandom,
  least_loaded: leastLoaded,
};

/** For a view older than a job: a preference would make all instances choose the same node. */
export function plainRandom(_columns: unknown, picked: Int32Array, count: number, chance: Chance): number {
  return picked[Math.floor(chance() * count)] as number;
}

/** In proportion to the free slots: emptier nodes get more, and instances with the same view choose different nodes. */
function weightedRandom(
  { free }: Pick<Columns, 'free'>,
  picked: Int32Array,
  count: number,
  chance: Chance,
): number {
  let total = 0;
  for (let at = 0; at < count; at++) total += free[picked[at] as number] as number;
  let left = chance() * total;
  for (let at = 0; at < count; at++) {
    left -= free[picked[at] as number] as number;
    if (left < 0) return picked[at] as number;
  }
  return picked[count - 1] as number;
}

/**
 * The lowest used share of slots, then random: the age of a heartbeat only excludes, because ordering by it would send every job to the node
 * that reported last. A share and not a count: one job on a node with two slots weighs more than two jobs on a node with sixteen.
 */
function leastLoaded(
  { used, max }: Pick<Columns, 'used' | 'max'>,
  picked: Int32Array,
  count: number,
  chance: Chance,
): number {
  let best = picked[0] as number;
  let bestShare = (used[best] as number) / (max[best] as number);
  let equals = 1;
  for (let at = 1; at < count; at++) {
    const index = picked[at] as number;
    const share = (used[index] as number) / (max[index] as number);
    if (share > bestShare) continue;
    // Ties are broken at random, so equal nodes share the work.
    equals = share < bestShare ? 1 : equals + 1;
    if (share === bestShare && chance() * equals >= 1) continue;
    best = index;
    bestShare = share;
  }
  return best;
}
