/** Simulation: what tenants have used, on the shard of each tenant; the list of tenants is on a shard of its own. */
import {
  countJobs,
  createTenantUsage,
  hoursIn,
  totalsAt,
} from '../../../scheduler/dist/adapters/memory/tenant-usage.js';
import type { UsageStore } from '../../../scheduler/dist/ports/usage-store.js';
import type { Lines } from './servers/lines.ts';
import { keys, tags } from './servers/tags.ts';

export interface UsageLimits {
  readonly retentionDays: number;
}

const HOUR_MS = 3_600_000;

export function createUsageStore({ lines, retentionDays }: { lines: Lines } & UsageLimits): UsageStore {
  const list = tags.key(keys.usageTenants);
  return {
    async add(tenantId, jobs) {
      await lines.ask(list, 'list-tenant', ({ state, now }) => {
        const tenants = state.names.get(keys.usageTenants, now()) ?? new Map<string, number>();
        tenants.set(tenantId, Math.floor(now() / HOUR_MS));
        state.names.put(keys.usageTenants, tenants);
      });
      await lines.ask(tags.tenant(tenantId), 'add-usage', ({ state, now }) => {
        const usage = state.usage.get(tenantId, now()) ?? createTenantUsage();
        countJobs(usage, jobs, { now: now(), retentionDays, maxCounted: Number.POSITIVE_INFINITY });
        state.usage.put(tenantId, usage);
      });
    },
    totals: (tenantId, at) =>
      lines.ask(tags.tenant(tenantId), 'read-totals', ({ state, now }) =>
        totalsAt(state.usage.get(tenantId, now()), at),
      ),
    read: (tenantId, range) =>
      lines.ask(tags.tenant(tenantId), 'read-usage', ({ state, now }) =>
        hoursIn(state.usage.get(tenantId, now()), range),
      ),
    tenants: (sinceHour) =>
      lines.ask(list, 'read-tenants', ({ state, now }) =>
        [...(state.names.get(keys.usageTenants, now()) ?? [])].flatMap(([tenantId, hour]) =>
          hour >= sinceHour ? [tenantId] : [],
        ),
      ),
  };
}
