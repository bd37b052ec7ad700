/** Hot path: which job each request of each tenant is bound to. Two steps, because one key would be a new text at every look. */
import type { TenantId } from '../../domain/ids.ts';
import { NumberedMap } from '../../domain/numbered-map.ts';

export interface Bindings<T> {
  get(tenantId: TenantId, requestId: string): T | undefined;
  set(tenantId: TenantId, requestId: string, bound: T): void;
  /** Only if the request is still bound to just this. */
  remove(tenantId: TenantId, requestId: string, bound: T): boolean;
  size(): number;
}

export function createBindings<T>(): Bindings<T> {
  /** A tenant without bindings has no map: there are never more maps than bindings. */
  const tenants = new Map<TenantId, NumberedMap<string, T>>();
  let size = 0;

  return {
    get: (tenantId, requestId) => tenants.get(tenantId)?.get(requestId),
    set(tenantId, requestId, bound) {
      const requests = tenants.get(tenantId) ?? new NumberedMap<string, T>();
      if (requests.size === 0) tenants.set(tenantId, requests);
      const before = requests.size;
      requests.set(requestId, bound);
      size += requests.size - before;
    },
    remove(tenantId, requestId, bound) {
      const requests = tenants.get(tenantId);
      if (requests === undefined || requests.get(requestId) !== bound) return false;
      requests.delete(requestId);
      if (requests.size === 0) tenants.delete(tenantId);
      size -= 1;
      return true;
    },
    size: () => size,
  };
}
