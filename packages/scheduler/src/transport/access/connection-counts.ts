/** Counts open sockets: in total, per tenant, per address (of IPv6, its /64 network). Each has a limit (I11). */
import { networkOf } from './networks.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerTenant: number;
  readonly maxConnectionsPerAddress: number;
}

export type ConnectionDecision =
  | { readonly kind: 'entered'; readonly leave: () => void }
  | { readonly kind: 'full'; readonly limit: 'global' | 'tenant' | 'address' };

export interface ConnectionCounts {
  /** Nodes belong to no tenant: pass undefined. */
  enter(tenantId: string | undefined, address: string): ConnectionDecision;
}

export function createConnectionCounts(limits: ConnectionLimits): ConnectionCounts {
  const tenants = new Map<string, number>();
  const addresses = new Map<string, number>();
  let open = 0;

  return {
    enter(tenantId, from) {
      const address = networkOf(from);
      if (open >= limits.maxConnections) return { kind: 'full', limit: 'global' };
      if (tenantId !== undefined && (tenants.get(tenantId) ?? 0) >= limits.maxConnectionsPerTenant) {
        return { kind: 'full', limit: 'tenant' };
      }
      if ((addresses.get(address) ?? 0) >= limits.maxConnectionsPerAddress) {
        return { kind: 'full', limit: 'address' };
      }
      let isInside = true;
      const change = (by: 1 | -1) => {
        open += by;
        if (tenantId !== undefined) add(tenants, tenantId, by);
        add(addresses, address, by);
      };
      change(1);
      return {
        kind: 'entered',
        leave: () => {
          // A socket may report its end twice.
          if (isInside) change(-1);
          isInside = false;
        },
      };
    },
  };
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
