/** Hot path, if several tenants share a limit: how much of it each tenant uses. A tenant that uses nothing is not counted. */
import type { TenantId } from './ids.ts';
import { partOf } from './tenancy.ts';

export interface TenantUse {
  /** The tenant may use so much more. */
  hasRoom(tenantId: TenantId, amount?: number): boolean;
  /** A negative amount is released. */
  add(tenantId: TenantId, amount: number): void;
}

/** `limit`: of all tenants. `share`: of it, for one tenant; 1: nothing is counted. */
export function createTenantUse(limit: number, share: number): TenantUse {
  if (share >= 1) return { hasRoom: () => true, add() {} };
  const most = partOf(limit, share);
  const used = new Map<TenantId, number>();
  return {
    hasRoom: (tenantId, amount = 1) => (used.get(tenantId) ?? 0) + amount <= most,
    add(tenantId, amount) {
      const now = (used.get(tenantId) ?? 0) + amount;
      if (now > 0) used.set(tenantId, now);
      else used.delete(tenantId);
    },
  };
}
