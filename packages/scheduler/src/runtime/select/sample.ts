/** Hot path: a uniform sample of the nodes that pass all filters, without visiting all nodes if possible. */

import { lowestOne, putBit } from '../../domain/bits.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Columns } from '../fleet/columns.ts';
import type { Roster } from '../fleet/roster.ts';

/**
 * Puts up to `k` different candidates into `columns.picked` and returns how many; 0 means none.
 * A candidate is usable, in `fit` and in `pool`, and not barred in this draw (see `bar`). A pool's bitmap may be shorter than the
 * fleet: bits beyond its end are zero.
 */
export function sample(
  columns: Columns,
  fit: Uint32Array,
  pool: PoolMembers | undefined,
  k: number,
  chance: Chance,
): number {
  const { usable, usableRoster } = columns;
  const member = pool?.words ?? fit;
  const from = pool !== undefined && pool.roster.count < usableRoster.count ? pool.roster : usableRoster;
  const words = Math.min(usable.length, fit.length, member.length);
  // Guess if that can succeed, and never for much more than the cost of the exhaustive way.
  if (from.count > 2 * k) {
    const probes = 4 * k + (words >>> 3);
    const found = probe(columns, from, fit, member, k, probes, chance);
    if (found === k) return k;
  }
  const isListShort = from.count <= 4 * words;
  const found = isListShort ? readList(columns, from, fit, member) : readBits(columns, fit, member, words);
  return found <= k ? found : shuffle(columns.picked, found, k, chance);
}

export interface PoolMembers {
  readonly roster: Roster;
  readonly words: Uint32Array;
}

/** Starts a draw: no node is barred. */
export function startDraw({ barred, barredList }: Columns): void {
  if (barredList.length === 0) return;
  for (const index of barredList) putBit(barred, index, false);
  barredList.length = 0;
}

/** Excludes this node from the draw. */
export function bar({ barred, barredList }: Columns, index: number): void {
  if (index === -1) return;
  putBit(barred, index, true);
  barredList.push(index);
}

/** Share of all assigned numbers that must be on the list for guessing without the list. */
const DENSE = 0.5;
/** Divisor that turns a 32-bit state into a fraction. */
const STATES = 0x1_0000_0000;

/**
 * Draws until `k` different candidates are found: all are equally likely, and the others cost nothing. Numbers are drawn from the
 * list, unless most numbers are on it: a long list is not in the CPU cache, and the bitmaps tell candidates as well. The random
 * source is called once and continued in integers (xorshift): dozens of fractions per job would be as many objects. Drawn nodes are
 * barred meanwhile.
 */
function probe(
  { ids, usable, barred, picked }: Columns,
  { list, count }: Roster,
  fit: Uint32Array,
  member: Uint32Array,
  k: number,
  probes: number,
  chance: Chance,
): number {
  const isDense = count > DENSE * ids.length;
  const share = (isDense ? ids.length : count) / STATES;
  let found = 0;
  let state = (chance() * STATES) | 1;
  for (let left = probes; left > 0 && found < k; left--) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const drawn = ((state >>> 0) * share) | 0;
    const index = isDense ? drawn : (list[drawn] as number);
    const word = index >>> 5;
    const bits =
      (usable[word] as number) & (fit[word] as number) & (member[word] as number) & ~(barred[word] as number);
    const bit = 1 << (index & 31);
    if ((bits & bit) === 0) continue;
    barred[word] = (barred[word] as number) | bit;
    picked[found++] = index;
  }
  for (let at = 0; at < found; at++) putBit(barred, picked[at] as number, false);
  return found;
}

/** All candidates of a list. */
function readList(
  { usable, barred, picked }: Columns,
  { list, count }: Roster,
  fit: Uint32Array,
  member: Uint32Array,
): number {
  let found = 0;
  for (let at = 0; at < count; at++) {
    const index = list[at] as number;
    const word = index >>> 5;
    const bits =
      (usable[word] as number) & (fit[word] as number) & (member[word] as number) & ~(barred[word] as number);
    if ((bits & (1 << (index & 31))) !== 0) picked[found++] = index;
  }
  return found;
}

/** All candidates, 32 nodes at a time. */
function readBits(
  { usable, barred, picked }: Columns,
  fit: Uint32Array,
  member: Uint32Array,
  words: number,
): number {
  let found = 0;
  for (let word = 0; word < words; word++) {
    let bits =
      (usable[word] as number) & (fit[word] as number) & (member[word] as number) & ~(barred[word] as number);
    for (; bits !== 0; bits &= bits - 1) picked[found++] = (word << 5) + lowestOne(bits);
  }
  return found;
}

/** Moves `k` of them to the front, all equally likely. */
function shuffle(picked: Int32Array, count: number, k: number, chance: Chance): number {
  for (let at = 0; at < k; at++) {
    const other = at + ((chance() * (count - at)) | 0);
    const index = picked[other] as number;
    picked[other] = picked[at] as number;
    picked[at] = index;
  }
  return k;
}
