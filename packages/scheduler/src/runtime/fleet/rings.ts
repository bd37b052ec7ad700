/** Hot path: the nodes that fit a need, from near to far: a standing query for each distance. */
import { type BoundedMap, createBoundedMap } from '../../domain/bounded-map.ts';
import type { Region, Regions } from '../../domain/region.ts';
import { factKey } from './fact-key.ts';
import type { FactTable } from './fact-table.ts';
import { any } from './formula.ts';
import type { StandingQueries, StandingQuery } from './standing-queries.ts';

export interface Ring {
  /** The last ring has all nodes of the need. */
  readonly query: StandingQuery;
  readonly roundTripMs: number;
  /** Empty: every region. */
  readonly regions: readonly Region[];
}

/** Undefined: all nodes are equally near, because the region is unknown. */
export type Rings = (query: StandingQuery, region: Region | undefined) => readonly Ring[] | undefined;

/** Regions cached for each query. */
const MAX_REGIONS = 64;

export function createRings(regions: Regions, facts: FactTable, queries: StandingQueries): Rings {
  const known = new WeakMap<StandingQuery, BoundedMap<Region, readonly Ring[]>>();

  function build(query: StandingQuery, region: Region): readonly Ring[] {
    // A query of an explanation is not cached, so its rings are not, either: they would replace queries of jobs.
    const add = queries.find(query.key) === undefined ? queries.uncached : queries.add;
    const near = regions.around(region).map(({ regions: names, roundTripMs }): Ring => {
      const text = names.join();
      const key = `n${text.length}.${text}${query.key}`;
      const formula = any(...names.map(factKey.inRegion));
      const nearby = [...query.clauses, { reason: 'outside_residency' as const, formula }];
      return { query: queries.find(key) ?? add(key, nearby), roundTripMs, regions: names };
    });
    return [...near, { query, roundTripMs: regions.otherMs, regions: [] }];
  }

  return (query, named) => {
    const region = named ?? regions.own;
    if (region === undefined) return undefined;
    const cached = known.get(query);
    const rings = cached?.get(region);
    if (rings !== undefined) return rings;
    // A name that a client has invented: no node is nearer than another.
    if (regions.around(region).length === 1 && !facts.isKnown(factKey.inRegion(region))) return undefined;
    const built = build(query, region);
    const cache = cached ?? createBoundedMap<Region, readonly Ring[]>({ max: MAX_REGIONS });
    known.set(query, cache);
    cache.set(region, built);
    return built;
  };
}
