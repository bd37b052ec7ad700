/**
 * Hot path: how many jobs of each tenant have a node or are being sent to one, and whether more are allowed. A job that waits for a
 * slot takes no quota unit: the queue counts it. Exact: a unit is taken and released once. Bounded in tenants (I11).
 */
import type { TenantId } from '../../domain/ids.ts';
import type { Tenancy } from '../../domain/tenancy.ts';

/** The count of a tenant. A job that took a unit keeps this object to release it. */
export interface QuotaUnit {
  /** Undefined: shared by the tenants above the limit. */
  readonly tenantId: TenantId | undefined;
  /** Over all instances. */
  readonly limit: number;
  count: number;
}

export interface InflightCaps {
  /** Undefined: the tenant is at its cap. */
  take(tenantId: TenantId): QuotaUnit | undefined;
  /** Also above the cap: the job was accepted before. */
  takeAnyway(tenantId: TenantId): QuotaUnit;
  release(quotaUnit: QuotaUnit): void;
  hasRoom(tenantId: TenantId): boolean;
  /** The message of a refusal: the limit, and what the client can do. */
  explain(tenantId: TenantId): string;
  /** Tenants with their own count. */
  tenants(): number;
  /** Units taken, of all tenants. */
  quotaUnits(): number;
}

export const MAX_COUNTED_TENANTS = 10_000;

export function createInflightCaps(deps: { tenancy: Tenancy; maxTenants?: number }): InflightCaps {
  const { tenancy, maxTenants = MAX_COUNTED_TENANTS } = deps;
  const counted = new Map<TenantId, QuotaUnit>();
  const sharedUnit: QuotaUnit = { tenantId: undefined, limit: 0, count: 0 };
  let all = 0;

  const limitOf = (tenantId: TenantId): number => tenancy.of(tenantId).maxInflightJobs;

  /** Tenant names come from clients: the number of counts is bounded. */
  function quotaUnitOf(tenantId: TenantId): QuotaUnit {
    const known = counted.get(tenantId);
    if (known !== undefined) return known;
    if (counted.size >= maxTenants) return sharedUnit;
    const quotaUnit: QuotaUnit = { tenantId, limit: limitOf(tenantId), count: 0 };
    counted.set(tenantId, quotaUnit);
    return quotaUnit;
  }

  function takeUnit(quotaUnit: QuotaUnit): QuotaUnit {
    quotaUnit.count += 1;
    all += 1;
    return quotaUnit;
  }

  function isFree(quotaUnit: QuotaUnit, tenantId: TenantId): boolean {
    return (
      quotaUnit.count < tenancy.share(quotaUnit.tenantId === undefined ? limitOf(tenantId) : quotaUnit.limit)
    );
  }

  function forgetUnused(quotaUnit: QuotaUnit): void {
    if (quotaUnit.count === 0 && quotaUnit.tenantId !== undefined) counted.delete(quotaUnit.tenantId);
  }

  return {
    take(tenantId) {
      const quotaUnit = quotaUnitOf(tenantId);
      if (isFree(quotaUnit, tenantId)) return takeUnit(quotaUnit);
      forgetUnused(quotaUnit);
      return undefined;
    },
    takeAnyway: (tenantId) => takeUnit(quotaUnitOf(tenantId)),
    release(quotaUnit) {
      quotaUnit.count -= 1;
      all -= 1;
      forgetUnused(quotaUnit);
    },
    hasRoom(tenantId) {
      const quotaUnit = quotaUnitOf(tenantId);
      const isRoom = isFree(quotaUnit, tenantId);
      forgetUnused(quotaUnit);
      return isRoom;
    },
    explain(tenantId) {
      const limit = limitOf(tenantId);
      const instances = tenancy.instances();
      const here = instances > 1 ? `, ${tenancy.share(limit)} of them on each of ${instances} instances` : '';
      return `tenant ${tenantId} may have ${limit} jobs in flight (max_inflight_jobs)${here}: wait until some end, set wait_ms, or raise the limit`;
    },
    tenants: () => counted.size,
    quotaUnits: () => all,
  };
}
