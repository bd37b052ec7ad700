/** Hot path: bits in words of 32, the alphabet of the fleet's bitmaps. */

/** Bits beyond the end of a bitmap are zero. */
export const hasBit = (words: Uint32Array, index: number): boolean => {
  const word = index >>> 5;
  return word < words.length && ((words[word] as number) & (1 << (index & 31))) !== 0;
};

/** The caller has made sure that the bitmap is long enough. */
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

/** Position of the lowest one; the word is not zero. */
export const lowestOne = (word: number): number => 31 - Math.clz32(word & -word);

export function growWords(words: Uint32Array, length: number): Uint32Array {
  const grown = new Uint32Array(length);
  grown.set(words);
  return grown;
}
