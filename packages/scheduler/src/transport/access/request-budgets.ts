/** Hot path: limits the requests of each tenant and of all tenants. Bounded in tenants (I11). */
import type { TenantId } from '../../domain/ids.ts';
import type { Tenancy } from '../../domain/tenancy.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

export interface RequestLimits {
  readonly requestsPerSecond: number;
  readonly requestsPerSecondPerTenant: number;
}

/** This instance's share of each tenant's rate; absent: the limits apply to every tenant. */
export type RequestRate = Pick<Tenancy, 'of' | 'share' | 'instances'>;

export type Spending =
  | { readonly kind: 'ok' }
  | { readonly kind: 'limited'; readonly limit: 'tenant' | 'global'; readonly retryAfterMs: number };

export const MAX_TENANTS = 10_000;
const SWEEP_INTERVAL_MS = 1_000;
const OK: Spending = { kind: 'ok' };

export interface RequestBudgets {
  /** Without a tenant, only the global budget. */
  spend(tenantId: TenantId | undefined, now: number): Spending;
  /** Only the tenant's budget. */
  spendTenantBudget(tenantId: TenantId, now: number): Spending;
  /** Tenants with a bucket now. */
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
  /** Shared by all tenants beyond MAX_TENANTS, so that invented names cannot fill the memory. */
  let sharedBucket = oneSecond(limits.requestsPerSecondPerTenant);
  /** The number of instances for which the shares were computed. */
  let instanceCount = 1;
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

  /** When the number of instances changes, every tenant restarts with one full second of its new share. */
  function resetShares(now: number): void {
    const instances = tenancy?.instances() ?? 1;
    if (instances === instanceCount) return;
    instanceCount = instances;
    tenants.clear();
    sharedBucket = bucketFor(undefined, now);
  }

  function bucketFor(tenantId: TenantId | undefined, now: number): TokenBucket {
    const perSecond = tenancy?.share(perSecondOf(tenantId)) ?? perSecondOf(tenantId);
    return createTokenBucket({ perSecond, burst: perSecond }, now);
  }

  function bucketOf(tenantId: TenantId, now: number): TokenBucket {
    resetShares(now);
    const known = tenants.get(tenantId);
    if (known !== undefined) return known;
    if (tenants.size >= MAX_TENANTS) sweep(now);
    if (tenants.size >= MAX_TENANTS) return sharedBucket;
    const bucket = bucketFor(tenantId, now);
    tenants.set(tenantId, bucket);
    return bucket;
  }

  return {
    spendTenantBudget(tenantId, now) {
      const wait = bucketOf(tenantId, now).take(now);
      return wait === 0 ? OK : { kind: 'limited', limit: 'tenant', retryAfterMs: wait };
    },
    spend(tenantId, now) {
      const own = tenantId === undefined ? undefined : bucketOf(tenantId, now);
      const ownWait = own?.take(now) ?? 0;
      if (ownWait > 0) return { kind: 'limited', limit: 'tenant', retryAfterMs: ownWait };
      const wait = all.take(now);
      if (wait === 0) return OK;
      own?.refund();
      return { kind: 'limited', limit: 'global', retryAfterMs: wait };
    },
    size: () => tenants.size,
  };
}
