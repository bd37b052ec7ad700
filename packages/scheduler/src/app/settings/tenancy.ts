/** Composition root: the terms of each tenant, from the configuration. */
import type { Config } from '../../config/settings.ts';
import { createTenancy, type Tenancy, type TenantTerms } from '../../domain/tenancy.ts';

/** So that one tenant leaves as much to the others as it takes. */
const DEFAULT_SHARE = 0.5;

/** What one tenant may use of each limit of an instance, from 0 to 1. */
export function tenantShare({ scheduler, server }: Config): number {
  const { max_share_percent: percent } = scheduler.tenant_limits;
  if (percent !== undefined) return percent / 100;
  const rows = [...server.tokens, ...scheduler.tenants];
  return new Set(rows.flatMap(({ tenant_id }) => tenant_id ?? [])).size > 1 ? DEFAULT_SHARE : 1;
}

/** `instances`: how many live, this one included. */
export function configuredTenancy(
  config: Config,
  instances: () => number,
  reached?: Tenancy['reached'],
): Tenancy {
  const { tenants, tenant_limits: limits, queue } = config.scheduler;
  const heaviest = Math.max(1, ...tenants.map(({ weight }) => weight));
  const others: TenantTerms = {
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
      maxSessions: row.max_sessions ?? others.maxSessions,
      maxInflightJobs: row.max_inflight_jobs ?? others.maxInflightJobs,
      maxWaiting: row.max_waiting ?? others.maxWaiting,
      requestsPerSecond: row.requests_per_second ?? others.requestsPerSecond,
      ...(row.degrade.length > 0 && { degrades: row.degrade }),
    });
  }
  return createTenancy(named, others, instances, tenantShare(config), reached);
}
