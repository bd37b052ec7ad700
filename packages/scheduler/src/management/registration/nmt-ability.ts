/** Cold path: the exact union of all translations of a node, as one product, its exceptions and further pairs. Pure. */

import { countBits, countOnes, forEachBit, fullSet, hasBit, putBit, wordsFor } from '../../domain/bits.ts';
import { ANY, type Direction, type Language, type LanguageSet } from '../../domain/language.ts';
import { type NmtAbility, nmtProduct } from '../../domain/profile.ts';

/** Every source to every other target, except `blocked`. */
export interface Product {
  readonly sources: LanguageSet;
  readonly targets: LanguageSet;
  readonly blocked: readonly Direction[];
}

/** Rows and columns of the grid that a product covers. */
interface Rectangle {
  readonly rows: Uint32Array;
  readonly columns: Uint32Array;
}

/** How many products are tried: more than a few of the largest cost time and gain nothing. */
const MAX_TRIED = 3;

/**
 * Selection tests one product in two steps, which is cheaper than a list. So the product is chosen that leaves the fewest pairs to list.
 * What "any" on one side adds beyond that product cannot be listed and is left out.
 */
export function uniteAbilities(products: readonly Product[], pairs: readonly Direction[]): NmtAbility {
  const solid = products.filter(({ sources, targets }) => sources.length > 0 && targets.length > 0);
  const [only] = solid;
  if (only === undefined && pairs.length === 0) return nmtProduct([], []);
  if (only !== undefined && solid.length === 1 && pairs.length === 0 && only.blocked.length === 0) {
    return nmtProduct(only.sources, only.targets);
  }
  return createGrid(solid, pairs).write();
}

/** A square of languages by languages; its last row and column stand for all languages that are not named. */
function createGrid(products: readonly Product[], pairs: readonly Direction[]) {
  const languages = namedLanguages(products, pairs);
  const indexOf = new Map(languages.map((language, index) => [language, index]));
  const others = languages.length;
  const size = others + 1;
  const words = wordsFor(size);
  /** One row of bits per source, with its targets, in one array: most of the time is spent here. */
  const cells = new Uint32Array(size * words);
  const full = fullSet(size);

  const at = (language: Language): number => indexOf.get(language) ?? others;
  const cell = (row: number, word: number): number => cells[row * words + word] as number;

  function mark(set: LanguageSet): Uint32Array {
    if (set === ANY) return full;
    const marks = new Uint32Array(words);
    for (const language of set) putBit(marks, at(language), true);
    return marks;
  }

  /** A set with the languages that are not named is "any" and includes the named ones. */
  const whole = (marks: Uint32Array): Uint32Array => (hasBit(marks, others) ? full : marks);

  /** What columns cover in a row: the same language on both sides is no translation. */
  const claim = (columns: Uint32Array, row: number, word: number): number =>
    row >>> 5 === word && row !== others
      ? (columns[word] as number) & ~(1 << (row & 31))
      : (columns[word] as number);

  function enter({ sources, targets, blocked }: Product): Rectangle {
    const rows = mark(sources);
    const columns = mark(targets);
    const exceptions = new Map<number, Uint32Array>();
    for (const { source, target } of blocked) {
      const known = exceptions.get(at(source)) ?? new Uint32Array(words);
      exceptions.set(at(source), known);
      putBit(known, at(target), true);
    }
    forEachBit(rows, (row) => {
      const excepted = exceptions.get(row);
      for (let word = 0; word < words; word += 1) {
        const kept = claim(columns, row, word) & ~(excepted?.[word] ?? 0);
        cells[row * words + word] = cell(row, word) | kept;
      }
    });
    return { rows, columns };
  }

  const entered = products.map(enter);
  // A pair may name one language twice: then this counts as a translation.
  for (const { source, target } of pairs) {
    const index = at(target);
    const word = at(source) * words + (index >>> 5);
    cells[word] = (cells[word] as number) | (1 << (index & 31));
  }

  /** How many entries it takes to write the union with this product; pairs that cannot be written weigh most. */
  function weigh({ rows, columns }: Rectangle, limit: number): number {
    let weight = 0;
    for (let row = 0; row < size && weight < limit; row += 1) {
      const isRow = hasBit(rows, row);
      for (let word = 0; word < words; word += 1) {
        const claimed = isRow ? claim(columns, row, word) : 0;
        const difference = claimed ^ cell(row, word);
        if (difference === 0) continue;
        const unnamed =
          row === others ? difference : others >>> 5 === word ? difference & (1 << (others & 31)) : 0;
        if ((unnamed & claimed) !== 0) return Number.POSITIVE_INFINITY;
        weight += countOnes(difference & ~unnamed) + countOnes(unnamed) * size * size;
      }
    }
    return weight;
  }

  function reachesAll(columns: Uint32Array, row: number): boolean {
    for (let word = 0; word < words; word += 1) {
      if ((claim(columns, row, word) & ~cell(row, word)) !== 0) return false;
    }
    return true;
  }

  /** The product with every further source that reaches all its targets; then the same for targets. */
  function grow({ rows, columns }: Rectangle): Rectangle {
    const moreRows = rows.slice();
    for (let row = 0; row < size; row += 1) if (reachesAll(columns, row)) putBit(moreRows, row, true);
    const reached = full.slice();
    forEachBit(moreRows, (row) => {
      // A source need not reach itself.
      const isOwn = row !== others && hasBit(reached, row);
      for (let word = 0; word < words; word += 1) {
        reached[word] = (reached[word] as number) & cell(row, word);
      }
      if (isOwn) putBit(reached, row, true);
    });
    forEachBit(columns, (column) => putBit(reached, column, true));
    return { rows: whole(moreRows), columns: whole(reached) };
  }

  function bounds(): Rectangle {
    const rows = new Uint32Array(words);
    const columns = new Uint32Array(words);
    for (let row = 0; row < size; row += 1) {
      for (let word = 0; word < words; word += 1) {
        if (cell(row, word) === 0) continue;
        putBit(rows, row, true);
        columns[word] = (columns[word] as number) | cell(row, word);
      }
    }
    return { rows: whole(rows), columns: whole(columns) };
  }

  function best(): Rectangle {
    let found: Rectangle = { rows: new Uint32Array(words), columns: new Uint32Array(words) };
    let least = weigh(found, Number.POSITIVE_INFINITY);
    const largest = largestOf(entered);
    for (const propose of [bounds, ...largest.flatMap((product) => [() => product, () => grow(product)])]) {
      if (least === 0) break;
      const candidate = propose();
      const weight = weigh(candidate, least);
      if (weight >= least) continue;
      found = candidate;
      least = weight;
    }
    return found;
  }

  const named = (marks: Uint32Array): LanguageSet =>
    hasBit(marks, others) ? ANY : languages.filter((_, index) => hasBit(marks, index));

  function write(): NmtAbility {
    const { rows, columns } = best();
    const blocked: Direction[] = [];
    const listed: Direction[] = [];
    const difference = new Uint32Array(words);
    for (let row = 0; row < others; row += 1) {
      const isRow = hasBit(rows, row);
      for (let word = 0; word < words; word += 1) {
        difference[word] = (isRow ? claim(columns, row, word) : 0) ^ cell(row, word);
      }
      forEachBit(difference, (column) => {
        if (column === others) return;
        const isTrue = ((cell(row, column >>> 5) >>> (column & 31)) & 1) === 1;
        const pair = { source: languages[row] ?? '', target: languages[column] ?? '' };
        (isTrue ? listed : blocked).push(pair);
      });
    }
    return { sources: named(rows), targets: named(columns), blocked, pairs: listed };
  }

  return { write };
}

const largestOf = (rectangles: readonly Rectangle[]): readonly Rectangle[] =>
  rectangles
    .map((rectangle) => ({ rectangle, area: countBits(rectangle.rows) * countBits(rectangle.columns) }))
    .sort((a, b) => b.area - a.area)
    .slice(0, MAX_TRIED)
    .map(({ rectangle }) => rectangle);

function namedLanguages(products: readonly Product[], pairs: readonly Direction[]): readonly Language[] {
  const names = new Set<Language>();
  for (const { sources, targets, blocked } of products) {
    if (sources !== ANY) for (const language of sources) names.add(language);
    if (targets !== ANY) for (const language of targets) names.add(language);
    for (const { source, target } of blocked) names.add(source).add(target);
  }
  for (const { source, target } of pairs) names.add(source).add(target);
  return [...names].sort();
}
