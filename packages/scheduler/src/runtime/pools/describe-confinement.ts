/** Failure path: the text that says why a job may not use other pools. Pure. */
import type { TenantId } from '../../domain/ids.ts';
import { type PoolId, type PoolPlan, UNPOOLED } from '../../domain/pool.ts';
import { type CompiledNeed, routeOf } from '../select/compile-need.ts';

/** A clause to append to "no node …"; empty if the job may use every pool. */
export function describeConfinement(compiled: CompiledNeed): string {
  const route = routeOf(compiled);
  const plan = compiled.poolMap?.plan;
  if (route?.confinement === undefined || plan === undefined) return '';
  const { confinement } = route;
  const { tenantId } = compiled.need;
  switch (confinement.kind) {
    case 'tenant_pool':
      return ` in ${poolName(plan, confinement.poolId)}, ${bound(tenantId)} and may not leave (strict_pool_eligibility)`;
    case 'tenant_pool_not_eligible':
      return `: ${poolName(plan, confinement.poolId)}, ${bound(tenantId)} and may not leave (strict_pool_eligibility), does not promise the services of this job (pool_match_scope = ${plan.matchScope}, pool_match_mode = ${plan.matchMode})`;
    case 'no_fallback':
      return ` in ${poolName(plan, confinement.poolId)}, and other pools are not tried (fallback_scan_all_pools = false)`;
    case 'no_eligible_pool':
      return `: no pool promises the services of this job, and it may not run outside of pools (strict_pool_eligibility)`;
  }
}

const bound = (tenantId: TenantId): string => `to which tenant ${tenantId} is bound`;

export function poolName({ pools }: PoolPlan, poolId: PoolId): string {
  if (poolId === UNPOOLED) return 'no pool';
  const name = pools.find((pool) => pool.poolId === poolId)?.name ?? '';
  return name === '' ? `pool ${poolId}` : `pool ${poolId} (${name})`;
}
