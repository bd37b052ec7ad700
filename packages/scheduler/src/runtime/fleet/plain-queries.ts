/** Hot path: the standing queries of needs with one direction and some flags, found by these alone. */
import type { NeededDirection } from '../../domain/need.ts';
import type { StandingQuery } from './standing-queries.ts';

/** Bounded: at this limit all are dropped, and found again by their shape. More than the pairs in use. */
const MOST = 2_048;

/**
 * A cached query may have lost its bitmap: reading it creates a new one, as for any query that is held for long.
 */
export interface PlainQueries {
  find(flags: number, direction: NeededDirection): StandingQuery | undefined;
  add(flags: number, direction: NeededDirection, query: StandingQuery): void;
}

export function createPlainQueries(): PlainQueries {
  /** By flags, then source, then target. */
  let known: Map<string, Map<string, StandingQuery>>[] = [];
  let count = 0;

  return {
    find: (flags, { source, target }) => known[flags]?.get(source)?.get(target),
    add(flags, { source, target }, query) {
      if (count === MOST) {
        known = [];
        count = 0;
      }
      const bySource = known[flags] ?? new Map<string, Map<string, StandingQuery>>();
      const byTarget = bySource.get(source) ?? new Map<string, StandingQuery>();
      known[flags] = bySource;
      bySource.set(source, byTarget);
      byTarget.set(target, query);
      count += 1;
    },
  };
}
