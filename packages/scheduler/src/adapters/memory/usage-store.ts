/** What tenants have used, in the memory of one process: it starts from zero with each process. */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { UsageStore } from '../../ports/usage-store.ts';
import { countJobs, createTenantUsage, hoursIn, type TenantUsage, totalsAt } from './tenant-usage.ts';

export interface UsageStoreLimits {
  readonly retentionDays: number;
  readonly maxTenants: number;
}

/** A process repeats only what it has just settled. */
const MAX_COUNTED = 10_000;

export function createUsageStore({
  clock,
  retentionDays,
  maxTenants,
}: { readonly clock: Clock } & UsageStoreLimits): UsageStore {
  const tenants = createBoundedMap<TenantId, TenantUsage>({ max: maxTenants });
  return {
    add(tenantId, jobs) {
      const usage = tenants.get(tenantId) ?? createTenantUsage();
      // Set again, so that the tenant that was idle longest is the first to be forgotten.
      tenants.set(tenantId, usage);
      countJobs(usage, jobs, { now: clock.now(), retentionDays, maxCounted: MAX_COUNTED });
    },
    totals: (tenantId, at) => totalsAt(tenants.get(tenantId), at),
    read: (tenantId, range) => hoursIn(tenants.get(tenantId), range),
    tenants: (sinceHour) =>
      [...tenants.entries()].flatMap(([tenantId, { lastHour }]) => (lastHour >= sinceHour ? [tenantId] : [])),
  };
}
