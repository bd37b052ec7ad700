/** Cold path: sets of small whole numbers, 32 to a word: whole sets are compared in the time of a few additions. Pure. */

export type BitSet = Uint32Array;

const WORD = 32;

export const wordsFor = (size: number): number => Math.ceil(size / WORD);

export const hasBit = (set: BitSet, index: number): boolean =>
  (((set[index >>> 5] as number) >>> (index & 31)) & 1) === 1;

export const setBit = (set: BitSet, index: number): void => {
  set[index >>> 5] = (set[index >>> 5] as number) | (1 << (index & 31));
};

/** All numbers below the size. */
export function fullSet(size: number): BitSet {
  const set = new Uint32Array(wordsFor(size)).fill(0xffff_ffff);
  const left = size % WORD;
  if (left > 0) set[set.length - 1] = 2 ** left - 1;
  return set;
}

export function countBits(set: BitSet): number {
  let count = 0;
  for (let word = 0; word < set.length; word += 1) count += onesOf(set[word] as number);
  return count;
}

/** Calls with each number of the set, smallest first. */
export function forEachBit(set: BitSet, visit: (index: number) => void): void {
  for (let word = 0; word < set.length; word += 1) {
    for (let rest = set[word] as number; rest !== 0; rest &= rest - 1) {
      visit(word * WORD + 31 - Math.clz32(rest & -rest));
    }
  }
}

/** How many bits of a word are set. */
export function onesOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
