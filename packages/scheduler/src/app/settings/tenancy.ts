/** Composition root: the terms of each tenant as configured, and this instance's share of limits that hold over all of them. */
import type { Config } from '../../config/settings.ts';
import { shareOf, type Tenancy, type TenantTerms } from '../../domain/tenancy.ts';

/** `instances`: how many live, as last seen; this one included. */
export function createTenancy(config: Config, instances: () => number): Tenancy {
  const { tenants, tenant_limits: limits, queue } = config.scheduler;
  const heaviest = Math.max(1, ...tenants.map(({ weight }) => weight));
  const everybody: TenantTerms = {
    quantum: 1 / heaviest,
    priority: 'normal',
    maxSessions: limits.max_sessions ?? Number.POSITIVE_INFINITY,
    maxInflightJobs: limits.max_inflight_jobs ?? Number.POSITIVE_INFINITY,
    maxWaiting: queue.max_waiting_per_tenant,
    requestsPerSecond: config.server.limits.requests_per_second_per_tenant,
  };
  const named = new Map<string, TenantTerms>();
  for (const row of tenants) {
    named.set(row.tenant_id, {
      quantum: row.weight / heaviest,
      priority: row.priority,
      maxSessions: row.max_sessions ?? everybody.maxSessions,
      maxInflightJobs: row.max_inflight_jobs ?? everybody.maxInflightJobs,
      maxWaiting: row.max_waiting ?? everybody.maxWaiting,
      requestsPerSecond: row.requests_per_second ?? everybody.requestsPerSecond,
    });
  }
  const all = [everybody, ...named.values()];
  return {
    of: (tenantId) => named.get(tenantId) ?? everybody,
    share: (limit) => shareOf(limit, instances()),
    instances,
    capsJobs: all.some(({ maxInflightJobs }) => Number.isFinite(maxInflightJobs)),
    capsSessions: all.some(({ maxSessions }) => Number.isFinite(maxSessions)),
  };
}
