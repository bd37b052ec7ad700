/** Composition root: the regions, from the configuration. Pure. */
import type { Config } from '../../config/settings.ts';
import { createRegions, type Regions } from '../../domain/region.ts';

/** Undefined: the configuration names no region, so selection ignores where nodes are. */
export function configuredRegions({ scheduler }: Config): Regions | undefined {
  const { own, other_round_trip_ms: otherMs, round_trips: roundTrips } = scheduler.regions;
  const residency = new Map(
    scheduler.tenants.flatMap(({ tenant_id, residency: allowed }) =>
      allowed.length === 0 ? [] : [[tenant_id, [...new Set(allowed)].sort()] as const],
    ),
  );
  if (own === undefined && roundTrips.length === 0 && residency.size === 0) return undefined;
  return createRegions({ own, otherMs, roundTrips, residency });
}
