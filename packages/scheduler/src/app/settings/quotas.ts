/** Composition root: the quotas of each tenant, from the configuration. */
import type { Config } from '../../config/settings.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Quota } from '../../domain/quota.ts';

/** A row without a tenant is for all tenants that have none of the same period and unit. Undefined: there are no quotas. */
export function configuredQuotas({
  scheduler: { quotas: rows },
}: Config): ((tenantId: TenantId) => readonly Quota[]) | undefined {
  if (rows.length === 0) return undefined;
  const common = rows.filter(({ tenant_id }) => tenant_id === undefined);
  const own = new Map<TenantId, readonly Quota[]>();
  for (const tenantId of new Set(rows.flatMap(({ tenant_id }) => tenant_id ?? []))) {
    const named = rows.filter(({ tenant_id }) => tenant_id === tenantId);
    const rest = common.filter(
      ({ period, unit }) => !named.some((row) => row.period === period && row.unit === unit),
    );
    own.set(tenantId, [...named, ...rest]);
  }
  return (tenantId) => own.get(tenantId) ?? common;
}
