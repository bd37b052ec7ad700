/** Hot path: how many requests each tenant, and all together, may make. Bounded in tenants (I11). */
import type { TenantId } from '../../domain/ids.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

export interface RequestLimits {
  readonly requestsPerSecond: number;
  readonly requestsPerSecondPerTenant: number;
}

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

export function createRequestBudgets(limits: RequestLimits, startedAt: number): RequestBudgets {
  const oneSecond = (perSecond: number) => createTokenBucket({ perSecond, burst: perSecond }, startedAt);
  const all = oneSecond(limits.requestsPerSecond);
  const tenants = new Map<TenantId, TokenBucket>();
  /** Shared by the tenants for whom there is no room: names that somebody invents must not fill the memory. */
  const crowd = oneSecond(limits.requestsPerSecondPerTenant);
  let sweptAt = Number.NEGATIVE_INFINITY;

  function sweep(now: number): void {
    if (Math.abs(now - sweptAt) < SWEEP_INTERVAL_MS) return;
    sweptAt = now;
    for (const [tenantId, bucket] of tenants) if (bucket.isFull(now)) tenants.delete(tenantId);
  }

  function bucketOf(tenantId: TenantId, now: number): TokenBucket {
    const known = tenants.get(tenantId);
    if (known !== undefined) return known;
    if (tenants.size >= MAX_TENANTS) sweep(now);
    if (tenants.size >= MAX_TENANTS) return crowd;
    const perSecond = limits.requestsPerSecondPerTenant;
    const bucket = createTokenBucket({ perSecond, burst: perSecond }, now);
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
