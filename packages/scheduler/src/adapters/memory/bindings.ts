/** Hot path: the job to which each request of each tenant is bound. Two maps, because one key would be a new text at every lookup. */
import { randomInt } from 'node:crypto';
import type { TenantId } from '../../domain/ids.ts';
import { NumberedMap } from '../../domain/numbered/numbered-map.ts';

export interface Bindings<T> {
  get(tenantId: TenantId, requestId: string): T | undefined;
  set(tenantId: TenantId, requestId: string, bound: T): void;
  /** Only if the request is still bound to this job. */
  remove(tenantId: TenantId, requestId: string, bound: T): boolean;
  size(): number;
  sizeOf(tenantId: TenantId): number;
}

export function createBindings<T>(): Bindings<T> {
  /** A tenant without bindings has no map: there are never more maps than bindings. */
  const tenants = new Map<TenantId, NumberedMap<T>>();
  let size = 0;

  return {
    get: (tenantId, requestId) => tenants.get(tenantId)?.get(requestId),
    set(tenantId, requestId, bound) {
      const requests = tenants.get(tenantId) ?? new NumberedMap<T>(textNumber);
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
    sizeOf: (tenantId) => tenants.get(tenantId)?.size ?? 0,
  };
}

/** Clients choose their request ids: without a secret seed they could choose ids with equal numbers. */
const SECRET = randomInt(2 ** 32) | 0;

/** Of any text, spread evenly. */
function textNumber(text: string): number {
  let number = SECRET;
  for (let at = 0; at < text.length; at++) {
    number = Math.imul(number ^ text.charCodeAt(at), 0x01000193);
    number ^= number >>> 13;
  }
  number = Math.imul(number ^ (number >>> 16), 0x45d9f3b);
  return number ^ (number >>> 16);
}
