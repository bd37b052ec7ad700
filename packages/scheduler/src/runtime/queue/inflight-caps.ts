/**
 * Hot path: how many jobs of each tenant have a node or are on their way to one, and whether there may be more. A job that waits for a
 * slot holds no seat: it is counted by the queue. Exact: a seat is taken and given back once. Bounded in tenants (I11).
 */
import type { TenantId } from '../../domain/ids.ts';
import type { Tenancy } from '../../domain/tenancy.ts';

/** The seats of a tenant; whoever has taken one keeps this, to give it back. */
export interface Seat {
  /** Undefined: shared by the tenants for whom there is no room. */
  readonly tenantId: TenantId | undefined;
  /** Over all instances. */
  readonly limit: number;
  count: number;
}

export interface InflightCaps {
  /** Undefined: the tenant has as many as it may. */
  take(tenantId: TenantId): Seat | undefined;
  /** Also above the cap: the job was accepted before. */
  takeAnyway(tenantId: TenantId): Seat;
  giveBack(seat: Seat): void;
  hasRoom(tenantId: TenantId): boolean;
  /** For people: which limit it is, and what can be done. */
  explain(tenantId: TenantId): string;
  /** Tenants that are counted by themselves. */
  tenants(): number;
  /** Of all tenants. */
  seats(): number;
}

export const MAX_COUNTED_TENANTS = 10_000;

export function createInflightCaps(deps: { tenancy: Tenancy; maxTenants?: number }): InflightCaps {
  const { tenancy, maxTenants = MAX_COUNTED_TENANTS } = deps;
  const counted = new Map<TenantId, Seat>();
  const crowd: Seat = { tenantId: undefined, limit: 0, count: 0 };
  let all = 0;

  const limitOf = (tenantId: TenantId): number => tenancy.of(tenantId).maxInflightJobs;

  /** Names that somebody invents must not fill the memory. */
  function seatOf(tenantId: TenantId): Seat {
    const known = counted.get(tenantId);
    if (known !== undefined) return known;
    if (counted.size >= maxTenants) return crowd;
    const seat: Seat = { tenantId, limit: limitOf(tenantId), count: 0 };
    counted.set(tenantId, seat);
    return seat;
  }

  function sit(seat: Seat): Seat {
    seat.count += 1;
    all += 1;
    return seat;
  }

  function isFree(seat: Seat, tenantId: TenantId): boolean {
    return seat.count < tenancy.share(seat.tenantId === undefined ? limitOf(tenantId) : seat.limit);
  }

  function forgetUnused(seat: Seat): void {
    if (seat.count === 0 && seat.tenantId !== undefined) counted.delete(seat.tenantId);
  }

  return {
    take(tenantId) {
      const seat = seatOf(tenantId);
      if (isFree(seat, tenantId)) return sit(seat);
      forgetUnused(seat);
      return undefined;
    },
    takeAnyway: (tenantId) => sit(seatOf(tenantId)),
    giveBack(seat) {
      seat.count -= 1;
      all -= 1;
      forgetUnused(seat);
    },
    hasRoom(tenantId) {
      const seat = seatOf(tenantId);
      const isRoom = isFree(seat, tenantId);
      forgetUnused(seat);
      return isRoom;
    },
    explain(tenantId) {
      const limit = limitOf(tenantId);
      const instances = tenancy.instances();
      const here = instances > 1 ? `, ${tenancy.share(limit)} of them on each of ${instances} instances` : '';
      return `tenant ${tenantId} may have ${limit} jobs in flight (max_inflight_jobs)${here}: let some end, give wait_ms to wait for that, or have the limit raised`;
    },
    tenants: () => counted.size,
    seats: () => all,
  };
}
