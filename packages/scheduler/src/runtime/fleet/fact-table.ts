/** Hot path: for which nodes a fact is true. One bitmap per fact, kept only while a node has the fact. */
import { growWords, hasBit, putBit } from '../../domain/bits.ts';

/**
 * Facts of a few nodes are lists: one node with ten thousand language pairs must not cost ten thousand bitmaps of fleet length.
 */
const LISTED_MAX = 32;

export interface FactTable {
  /** Returns whether anything changed. */
  put(key: string, index: number, isTrue: boolean): boolean;
  has(key: string, index: number): boolean;
  /** No node has the fact any more. Not for pinned facts. */
  forget(key: string): void;
  /** At least one node has the fact. */
  isKnown(key: string): boolean;
  /** Clears in `out`, which has the length of the columns, all nodes without the fact. */
  and(key: string, out: Uint32Array): void;
  /** Sets in `out` all nodes with the fact. */
  or(key: string, out: Uint32Array): void;
  /** The bitmap itself, possibly shorter than the fleet; valid until the next `put`. */
  words(key: string): Uint32Array;
  keys(): Iterable<string>;
  size(): number;
}

interface Fact {
  count: number;
  members: number[] | undefined;
  words: Uint32Array;
}

const NO_WORDS = new Uint32Array(0);

/** `pinned` facts have a bitmap from the start and are never dropped. */
export function createFactTable(pinned: readonly string[]): FactTable {
  const facts = new Map<string, Fact>();
  const pins = new Set(pinned);
  for (const key of pins) facts.set(key, { count: 0, members: undefined, words: new Uint32Array(2) });

  function add(key: string, index: number): boolean {
    const fact = facts.get(key);
    if (fact === undefined) {
      facts.set(key, { count: 1, members: [index], words: NO_WORDS });
      return true;
    }
    if (isTrueOf(fact, index)) return false;
    fact.count += 1;
    if (fact.members === undefined) {
      setGrowing(fact, index);
    } else {
      fact.members.push(index);
      if (fact.members.length > LISTED_MAX) spread(fact);
    }
    return true;
  }

  function drop(key: string, index: number): boolean {
    const fact = facts.get(key);
    if (fact === undefined || !isTrueOf(fact, index)) return false;
    fact.count -= 1;
    if (fact.count === 0 && !pins.has(key)) facts.delete(key);
    else if (fact.members === undefined) putBit(fact.words, index, false);
    else fact.members.splice(fact.members.indexOf(index), 1);
    return true;
  }

  return {
    put: (key, index, isTrue) => (isTrue ? add(key, index) : drop(key, index)),
    has(key, index) {
      const fact = facts.get(key);
      return fact !== undefined && isTrueOf(fact, index);
    },
    forget: (key) => void facts.delete(key),
    isKnown: (key) => (facts.get(key)?.count ?? 0) > 0,
    and(key, out) {
      const fact = facts.get(key);
      if (fact?.members !== undefined) {
        const kept = fact.members.filter((index) => hasBit(out, index));
        out.fill(0);
        for (const index of kept) putBit(out, index, true);
        return;
      }
      const words = fact?.words ?? NO_WORDS;
      const shared = Math.min(words.length, out.length);
      for (let w = 0; w < shared; w++) out[w] = (out[w] as number) & (words[w] as number);
      out.fill(0, shared);
    },
    or(key, out) {
      const fact = facts.get(key);
      if (fact?.members !== undefined) {
        for (const index of fact.members) putBit(out, index, true);
        return;
      }
      const words = fact?.words ?? NO_WORDS;
      const shared = Math.min(words.length, out.length);
      for (let w = 0; w < shared; w++) out[w] = (out[w] as number) | (words[w] as number);
    },
    words(key) {
      const fact = facts.get(key);
      if (fact === undefined) return NO_WORDS;
      if (fact.members !== undefined) spread(fact);
      return fact.words;
    },
    keys: () => facts.keys(),
    size: () => facts.size,
  };
}

const isTrueOf = (fact: Fact, index: number): boolean =>
  fact.members === undefined ? hasBit(fact.words, index) : fact.members.includes(index);

function spread(fact: Fact): void {
  const members = fact.members ?? [];
  fact.members = undefined;
  fact.words = new Uint32Array((Math.max(...members) >>> 5) + 1);
  for (const index of members) putBit(fact.words, index, true);
}

function setGrowing(fact: Fact, index: number): void {
  const word = index >>> 5;
  if (word >= fact.words.length)
    fact.words = growWords(fact.words, Math.max(word + 1, fact.words.length * 2));
  putBit(fact.words, index, true);
}
