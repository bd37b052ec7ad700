/** Hot path: which of a few sampled nodes to try first. Pure; randomness is an argument. */
import type { NodeId } from '../../domain/ids.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Columns } from '../fleet/columns.ts';
import { crowding, expectedPace, type KindOfWork, knownPace } from './node-speeds.ts';

/** Chooses one of the first `count` node numbers in `picked`. All of them have a free slot. */
export type Policy = (
  columns: Pick<Columns, 'used' | 'max' | 'free'>,
  picked: Int32Array,
  count: number,
  chance: Chance,
) => number;

export type PolicyName = 'weighted_random' | 'least_loaded' | 'fastest';

export const POLICIES: Readonly<Record<Exclude<PolicyName, 'fastest'>, Policy>> = {
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

/**
 * `near`: nodes that cost at most this many times the least share the work. `lastSlot`: how much more the last free slot of a node costs.
 * Other instances may take that slot at the same moment, and then the reserve is refused. Without both, all instances would choose the few
 * fast nodes whenever one of their slots becomes free. `npm run placement` shows what other values do.
 */
const ALONE = { near: 1.5, lastSlot: 1 };
const WITH_PEERS = { near: 2.5, lastSlot: 6 };

/** What the policy `fastest` knows about the work to be placed. */
export interface Foresight {
  /** Undefined: no job of this kind has ended yet, so all nodes count as equally fast. */
  readonly kind: KindOfWork | undefined;
  readonly now: number;
  /** Other instances take slots of the same nodes. */
  readonly hasPeers: boolean;
}

/** The node that probably finishes first, with chance among those that are nearly as fast: a session never stays with one node. */
export function fastest(
  { ids, used, max, free, costs }: Pick<Columns, 'ids' | 'used' | 'max' | 'free' | 'costs'>,
  picked: Int32Array,
  count: number,
  chance: Chance,
  { kind, now, hasPeers }: Foresight,
): number {
  const { near, lastSlot } = hasPeers ? WITH_PEERS : ALONE;
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < count; at++) {
    const index = picked[at] as number;
    const slots = max[index] as number;
    const pace = kind === undefined ? 1 : expectedPace(kind, index, ids[index] as NodeId, now);
    const isLast = slots > 1 && free[index] === 1;
    const cost = pace * crowding((used[index] as number) + 1, slots) * (isLast ? lastSlot : 1);
    costs[at] = cost;
    if (cost < least) least = cost;
  }
  const limit = near * least;
  let total = 0;
  for (let at = 0; at < count; at++) {
    const weight = weightOf(costs[at] as number, limit, free[picked[at] as number] as number);
    // From here on it has the weights.
    costs[at] = weight;
    total += weight;
  }
  let left = chance() * total;
  let last = picked[0] as number;
  for (let at = 0; at < count; at++) {
    const weight = costs[at] as number;
    if (weight === 0) continue;
    last = picked[at] as number;
    left -= weight;
    if (left < 0) break;
  }
  return last;
}

/** Units of work of a usual utterance: only the comparison of regions needs the length of a job. */
const USUAL_WORK = 3;

/**
 * How long a usual job takes on this node, to compare nodes of several regions; undefined: no job of this kind has ended. Without doubt about old
 * paces: no job leaves its region only to try a node.
 */
export function expectedMs(
  { ids, used, max }: Pick<Columns, 'ids' | 'used' | 'max'>,
  index: number,
  { kind }: Foresight,
): number | undefined {
  if (kind === undefined) return undefined;
  const pace = knownPace(kind, index, ids[index] as NodeId);
  return USUAL_WORK * pace * crowding((used[index] as number) + 1, max[index] as number);
}

const weightOf = (cost: number, limit: number, free: number): number =>
  cost > limit ? 0 : (free < 1 ? 1 : free) / (cost * cost);
