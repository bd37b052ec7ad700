/** Hot path: sets of small whole numbers as bitmaps, 32 to an integer. Pure. */

/** Bits beyond the end of a bitmap are zero. */
export const hasBit = (words: Uint32Array, index: number): boolean => {
  const word = index >>> 5;
  return word < words.length && ((words[word] as number) & (1 << (index & 31))) !== 0;
};

/** The caller ensures that the bitmap is long enough. */
export function putBit(words: Uint32Array, index: number, isSet: boolean): void {
  const bit = 1 << (index & 31);
  const word = words[index >>> 5] as number;
  words[index >>> 5] = isSet ? word | bit : word & ~bit;
}

export function countOnes(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Position of the lowest set bit; the word is not zero. */
export const lowestOne = (word: number): number => 31 - Math.clz32(word & -word);

export function growWords(words: Uint32Array, length: number): Uint32Array {
  const grown = new Uint32Array(length);
  grown.set(words);
  return grown;
}

export const wordsFor = (size: number): number => Math.ceil(size / 32);

/** The set of all numbers below the size. */
export function fullSet(size: number): Uint32Array {
  const set = new Uint32Array(wordsFor(size)).fill(0xffff_ffff);
  const rest = size % 32;
  if (rest > 0) set[set.length - 1] = 2 ** rest - 1;
  return set;
}

export function countBits(set: Uint32Array): number {
  let count = 0;
  for (let word = 0; word < set.length; word += 1) count += countOnes(set[word] as number);
  return count;
}

/** Calls `visit` with each number of the set in ascending order. */
export function forEachBit(set: Uint32Array, visit: (index: number) => void): void {
  for (let word = 0; word < set.length; word += 1) {
    for (let rest = set[word] as number; rest !== 0; rest &= rest - 1) visit(word * 32 + lowestOne(rest));
  }
}
