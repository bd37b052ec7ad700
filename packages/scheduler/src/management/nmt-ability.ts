/** Cold path: the exact union of everything a node can translate, as one product, its exceptions and further pairs. Pure. */
import { ANY, type Direction, type Language, type LanguageSet } from '../domain/language.ts';
import { type NmtAbility, nmtProduct } from '../domain/profile.ts';

/** Every source to every other target, less `blocked`. */
export interface Product {
  readonly sources: LanguageSet;
  readonly targets: LanguageSet;
  readonly blocked: readonly Direction[];
}

/** Which rows and which columns of the grid a product covers. */
interface Rectangle {
  readonly rows: Uint8Array;
  readonly columns: Uint8Array;
}

/** Candidates for the one product that is kept; beyond a few of the largest, more cost time and gain nothing. */
const MAX_SEEDS = 3;

/**
 * One product with few exceptions is worth more than a list: selection tests a product in two steps. So the one is kept
 * that leaves the least to be listed. What "any" on one side adds beyond that product cannot be listed and is not claimed.
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

/** A square of languages by languages; its last row and column stand for every language nobody named. */
function createGrid(products: readonly Product[], pairs: readonly Direction[]) {
  const languages = namedLanguages(products, pairs);
  const indexOf = new Map(languages.map((language, index) => [language, index]));
  const others = languages.length;
  const size = others + 1;
  const cells = new Uint8Array(size * size);
  const cellOf = ({ source, target }: Direction) =>
    (indexOf.get(source) ?? others) * size + (indexOf.get(target) ?? others);

  /** The same language on both sides is no translation, unless a pair says so. */
  const isTranslation = (row: number, column: number) => row !== column || row === others;

  function mark(set: LanguageSet): Uint8Array {
    const marks = new Uint8Array(size);
    if (set === ANY) return marks.fill(1);
    for (const language of set) marks[indexOf.get(language) ?? others] = 1;
    return marks;
  }

  /** Whoever has the languages nobody named has "any", the named ones included. */
  const whole = (marks: Uint8Array) => (marks[others] === 1 ? marks.fill(1) : marks);

  function enter({ sources, targets, blocked }: Product): Rectangle {
    const rectangle = { rows: mark(sources), columns: mark(targets) };
    const exceptions = new Set(blocked.map(cellOf));
    for (let row = 0; row < size; row += 1) {
      if (rectangle.rows[row] === 0) continue;
      for (let column = 0; column < size; column += 1) {
        if (rectangle.columns[column] === 0 || !isTranslation(row, column)) continue;
        const cell = row * size + column;
        if (exceptions.size === 0 || !exceptions.has(cell)) cells[cell] = 1;
      }
    }
    return rectangle;
  }

  const seeds = products.map(enter);
  for (const pair of pairs) cells[cellOf(pair)] = 1;

  /** How many words it takes to write the union with this product; what cannot be written at all weighs most. */
  function weigh({ rows, columns }: Rectangle, limit: number): number {
    let weight = 0;
    for (let row = 0; row < size && weight < limit; row += 1) {
      const isRow = rows[row] === 1;
      for (let column = 0; column < size; column += 1) {
        const isClaimed = isRow && columns[column] === 1 && isTranslation(row, column);
        if (isClaimed === (cells[row * size + column] === 1)) continue;
        if (row < others && column < others) weight += 1;
        else if (isClaimed) return Number.POSITIVE_INFINITY;
        else weight += size * size;
      }
    }
    return weight;
  }

  /** Whether every marked cell of a line is a translation of the union; a line is a row or a column. */
  function isCovered(marks: Uint8Array, line: number, step: number, stride: number): boolean {
    for (let index = 0; index < size; index += 1) {
      if (marks[index] === 0 || (index === line && line !== others)) continue;
      if (cells[line * stride + index * step] === 0) return false;
    }
    return true;
  }

  /** The product, and every further source that reaches all its targets; then the same the other way round. */
  function grow({ rows, columns }: Rectangle): Rectangle {
    const moreRows = rows.slice();
    for (let row = 0; row < size; row += 1) if (isCovered(columns, row, 1, size)) moreRows[row] = 1;
    const moreColumns = columns.slice();
    for (let column = 0; column < size; column += 1) {
      if (isCovered(moreRows, column, size, 1)) moreColumns[column] = 1;
    }
    return { rows: whole(moreRows), columns: whole(moreColumns) };
  }

  function bounds(): Rectangle {
    const rows = new Uint8Array(size);
    const columns = new Uint8Array(size);
    for (let row = 0; row < size; row += 1) {
      for (let column = 0; column < size; column += 1) {
        if (cells[row * size + column] === 0) continue;
        rows[row] = 1;
        columns[column] = 1;
      }
    }
    return { rows: whole(rows), columns: whole(columns) };
  }

  function best(): Rectangle {
    let found: Rectangle = { rows: new Uint8Array(size), columns: new Uint8Array(size) };
    let least = weigh(found, Number.POSITIVE_INFINITY);
    const largest = seeds.toSorted((a, b) => area(b) - area(a)).slice(0, MAX_SEEDS);
    for (const propose of [bounds, ...largest.flatMap((seed) => [() => seed, () => grow(seed)])]) {
      if (least === 0) break;
      const candidate = propose();
      const weight = weigh(candidate, least);
      if (weight >= least) continue;
      found = candidate;
      least = weight;
    }
    return found;
  }

  function named(marks: Uint8Array): LanguageSet {
    return marks[others] === 1 ? ANY : languages.filter((_, index) => marks[index] === 1);
  }

  function write(): NmtAbility {
    const product = best();
    const blocked: Direction[] = [];
    const listed: Direction[] = [];
    for (let row = 0; row < others; row += 1) {
      for (let column = 0; column < others; column += 1) {
        const isClaimed = product.rows[row] === 1 && product.columns[column] === 1 && row !== column;
        const isTrue = cells[row * size + column] === 1;
        if (isClaimed === isTrue) continue;
        const pair = { source: languages[row] ?? '', target: languages[column] ?? '' };
        if (isClaimed) blocked.push(pair);
        else listed.push(pair);
      }
    }
    return { sources: named(product.rows), targets: named(product.columns), blocked, pairs: listed };
  }

  return { write };
}

const count = (marks: Uint8Array): number => marks.reduce((sum, mark) => sum + mark, 0);
const area = ({ rows, columns }: Rectangle): number => count(rows) * count(columns);

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
