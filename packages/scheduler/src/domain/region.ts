/** Vocabulary: where nodes and requests are, and how long a message takes there and back. Pure. */
import type { TenantId } from './ids.ts';

export type Region = string;

/** Where a node says that it is; each may be unknown. */
export interface Place {
  readonly region?: Region | undefined;
  readonly zone?: string | undefined;
}

/** Regions that are equally far away. */
export interface Distance {
  readonly regions: readonly Region[];
  readonly roundTripMs: number;
}

export interface Regions {
  /** Of requests that name none: the region of this instance. Undefined: such requests prefer no node. */
  readonly own: Region | undefined;
  /** Between two regions without a configured time, and to nodes that name no region. */
  readonly otherMs: number;
  /** The only regions whose nodes get the jobs of the tenant; undefined: all. */
  residency(tenantId: TenantId): readonly Region[] | undefined;
  /** The region itself, then the others that are nearer than `otherMs`, from near to far. */
  around(region: Region): readonly Distance[];
  roundTripMs(one: Region | undefined, other: Region | undefined): number;
}

export interface RoundTrip {
  readonly one: Region;
  readonly other: Region;
  readonly ms: number;
}

export function createRegions(given: {
  readonly own: Region | undefined;
  readonly otherMs: number;
  readonly roundTrips: readonly RoundTrip[];
  readonly residency: ReadonlyMap<TenantId, readonly Region[]>;
}): Regions {
  const { own, otherMs, residency } = given;
  /** In both directions; of several rows for a pair the last one counts. */
  const times = new Map<Region, Map<Region, number>>();
  const note = (from: Region, to: Region, ms: number): void => {
    const row = times.get(from) ?? new Map<Region, number>();
    times.set(from, row.set(to, ms));
  };
  for (const { one, other, ms } of given.roundTrips) {
    note(one, other, ms);
    note(other, one, ms);
  }
  const orders = new Map([...times].map(([from, row]) => [from, orderOf(from, row, otherMs)]));
  return {
    own,
    otherMs,
    residency: (tenantId) => residency.get(tenantId),
    around: (region) => orders.get(region) ?? [{ regions: [region], roundTripMs: 0 }],
    roundTripMs(one, other) {
      if (one === undefined || other === undefined) return otherMs;
      return one === other ? 0 : (times.get(one)?.get(other) ?? otherMs);
    },
  };
}

function orderOf(from: Region, row: ReadonlyMap<Region, number>, otherMs: number): readonly Distance[] {
  const byTime = new Map<number, Region[]>();
  for (const [region, ms] of row)
    if (region !== from && ms < otherMs) byTime.set(ms, [...(byTime.get(ms) ?? []), region]);
  const others = [...byTime].sort(([one], [other]) => one - other);
  return [
    { regions: [from], roundTripMs: 0 },
    ...others.map(([roundTripMs, regions]) => ({ regions, roundTripMs })),
  ];
}
