/** Hot path: how many requests each tenant, and all together, may make. Bounded in tenants (I11). */
import type { TenantId } from '../../domain/ids.ts';
import type { Tenancy } from '../../domain/tenancy.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

export interface RequestLimits {
  readonly requestsPerSecond: number;
  readonly requestsPerSecondPerTenant: number;
}

/** What this instance grants each tenant; absent: as many as the limits say, to all. */
export type RequestRate = Pick<Tenancy, 'of' | 'share' | 'instances'>;

export type Spending =
  | { readonly kind: 'ok' }
  | { readonly kind: 'limited'; readonly limit: 'tenant' | 'global'; readonly retryAfterMs: number };

export const MAX_TENANTS = 10_000;
const SWEEP_INTERVAL_MS = 1_000;
const OK: Spending = { kind: 'ok' };

export interface RequestBudgets {
  /** Without a tenant only the budget of all is asked. */
  spend(tenantId: TenantId | undefined, now: number): Spending;
  /** Only the tenant's budget is asked. */
  spendOfTenant(tenantId: TenantId, now: number): Spending;
  /** Tenants remembered at the moment. */
  size(): number;
}

export function createRequestBudgets(
  limits: RequestLimits,
  startedAt: number,
  tenancy?: RequestRate | undefined,
): RequestBudgets {
  const oneSecond = (perSecond: number) => createTokenBucket({ perSecond, burst: perSecond }, startedAt);
  const all = oneSecond(limits.requestsPerSecond);
  const tenants = new Map<TenantId, TokenBucket>();
  /** Shared by the tenants for whom there is no room: names that somebody invents must not fill the memory. */
  let crowd = oneSecond(limits.requestsPerSecondPerTenant);
  /** Among how many instances the budgets of tenants were shared out. */
  let sharedAmong = 1;
  let sweptAt = Number.NEGATIVE_INFINITY;

  function sweep(now: number): void {
    if (Math.abs(now - sweptAt) < SWEEP_INTERVAL_MS) return;
    sweptAt = now;
    for (const [tenantId, bucket] of tenants) if (bucket.isFull(now)) tenants.delete(tenantId);
  }

  const perSecondOf = (tenantId: TenantId | undefined): number => {
    if (tenancy === undefined || tenantId === undefined) return limits.requestsPerSecondPerTenant;
    return tenancy.of(tenantId).requestsPerSecond;
  };

  /** When instances come or go, every tenant begins anew with a full second of its new share. */
  function shareOut(now: number): void {
    const instances = tenancy?.instances() ?? 1;
    if (instances === sharedAmong) return;
    sharedAmong = instances;
    tenants.clear();
    crowd = bucketFor(undefined, now);
  }

  function bucketFor(tenantId: TenantId | undefined, now: number): TokenBucket {
    const perSecond = tenancy?.share(perSecondOf(tenantId)) ?? perSecondOf(tenantId);
    return createTokenBucket({ perSecond, burst: perSecond }, now);
  }

  function bucketOf(tenantId: TenantId, now: number): TokenBucket {
    shareOut(now);
    const known = tenants.get(tenantId);
    if (known !== undefined) return known;
    if (tenants.size >= MAX_TENANTS) sweep(now);
    if (tenants.size >= MAX_TENANTS) return crowd;
    const bucket = bucketFor(tenantId, now);
    tenants.set(tenantId, bucket);
    return bucket;
  }

  return {
    spendOfTenant(tenantId, now) {
      const wait = bucketOf(tenantId, now).take(now);
      return wait === 0 ? OK : { kind: 'limited', limit: 'tenant', retryAfterMs: wait };
    },
    spend(tenantId, now) {
      const own = tenantId === undefined ? undefined : bucketOf(tenantId, now);
      const ownWait = own?.take(now) ?? 0;
      if (ownWait > 0) return { kind: 'limited', limit: 'tenant', retryAfterMs: ownWait };
      const wait = all.take(now);
      if (wait === 0) return OK;
      own?.giveBack();
      return { kind: 'limited', limit: 'global', retryAfterMs: wait };
    },
    size: () => tenants.size,
  };
}
