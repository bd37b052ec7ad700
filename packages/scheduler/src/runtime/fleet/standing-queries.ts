/**
 * Hot path: bitmaps of the nodes that fit frequent needs, updated bit by bit as nodes change.
 *
 * A decision then reads two machine words per node, however many languages and services the job names. Bounded: a query that is not
 * used for some time loses its bitmap and gets a new one at its next use.
 */
import { hasBit, putBit } from '../../domain/bits.ts';
import type { ChangeLog } from './change-log.ts';
import type { Columns } from './columns.ts';
import type { FactTable } from './fact-table.ts';
import { type Clause, holds, type Narrow } from './formula.ts';

/** Two generations of this size: a used query moves to the young one, without further bookkeeping. */
const GENERATION = 256;

export interface StandingQuery {
  readonly key: string;
  /** All must hold. Only abilities and marks are allowed: the change log records only those. */
  readonly clauses: readonly Clause[];
  words: Uint32Array | undefined;
  seen: number;
}

export interface StandingQueries {
  find(key: string): StandingQuery | undefined;
  add(key: string, clauses: readonly Clause[]): StandingQuery;
  /** Computed now and not cached, so that it replaces no query of a job. Valid until the fleet changes. */
  uncached(key: string, clauses: readonly Clause[]): StandingQuery;
  /** The fitting nodes; valid until the fleet changes. */
  words(query: StandingQuery): Uint32Array;
  holds(query: StandingQuery, index: number): boolean;
  size(): number;
  /** Number of bitmaps computed from scratch. */
  rebuilds(): number;
}

export function createStandingQueries(
  facts: FactTable,
  narrow: Narrow,
  log: ChangeLog,
  columns: Columns,
): StandingQueries {
  let young = new Map<string, StandingQuery>();
  let old = new Map<string, StandingQuery>();
  let rebuilds = 0;

  function admit(query: StandingQuery): StandingQuery {
    if (young.size >= GENERATION) {
      for (const [key, forgotten] of old) if (young.get(key) !== forgotten) forgotten.words = undefined;
      old = young;
      young = new Map();
    }
    young.set(query.key, query);
    return query;
  }

  function find(key: string): StandingQuery | undefined {
    const query = young.get(key);
    if (query !== undefined) return query;
    const aged = old.get(key);
    return aged === undefined ? undefined : admit(aged);
  }

  const fits = (query: StandingQuery, index: number): boolean => {
    if (!facts.has('alive', index)) return false;
    for (const clause of query.clauses) if (!holds(facts, clause.formula, index)) return false;
    return true;
  };

  function rebuild(query: StandingQuery): Uint32Array {
    rebuilds += 1;
    const length = columns.usable.length;
    const words = query.words?.length === length ? query.words : new Uint32Array(length);
    return fill(words, query.clauses);
  }

  function fill(words: Uint32Array, clauses: readonly Clause[]): Uint32Array {
    words.fill(0);
    facts.or('alive', words);
    for (const clause of clauses) narrow(clause.formula, words);
    return words;
  }

  function refresh(query: StandingQuery): Uint32Array {
    const lag = log.count - query.seen;
    // Checking one node costs about as much as recomputing eight machine words.
    const worth = Math.min(log.kept, 4 + (columns.usable.length >>> 3));
    let words = query.words;
    if (words === undefined || words.length !== columns.usable.length || lag > worth) words = rebuild(query);
    else {
      for (let at = query.seen; at < log.count; at++) putBit(words, log.at(at), fits(query, log.at(at)));
    }
    query.words = words;
    query.seen = log.count;
    return words;
  }

  return {
    find,
    add: (key, clauses) => admit({ key, clauses, words: undefined, seen: log.count }),
    uncached(key, clauses) {
      const words = fill(new Uint32Array(columns.usable.length), clauses);
      return { key, clauses, words, seen: log.count };
    },
    words(query) {
      if (query.words !== undefined) return query.seen === log.count ? query.words : refresh(query);
      // Dropped or never used. There is one bitmap per key, also for older copies of the query.
      const known = find(query.key) ?? admit(query);
      return known.words !== undefined && known.seen === log.count ? known.words : refresh(known);
    },
    holds: (query, index) =>
      query.words !== undefined && query.seen === log.count ? hasBit(query.words, index) : fits(query, index),
    size: () => young.size + old.size,
    rebuilds: () => rebuilds,
  };
}
