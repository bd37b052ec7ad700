/** Hot path, if several tenants share a limit: the entries of each tenant in order, and how much each tenant has. */
import { createFifo, type Fifo } from './fifo.ts';
import type { TenantId } from './ids.ts';

export interface TenantFifo<T> {
  add(tenantId: TenantId, name: string, one: T, size?: number): void;
  delete(tenantId: TenantId, name: string): void;
  /** The oldest of the tenant. */
  firstOf(tenantId: TenantId): readonly [name: string, one: T] | undefined;
  countOf(tenantId: TenantId): number;
  sizeOf(tenantId: TenantId): number;
}

interface Line<T> {
  readonly entries: Fifo<{ readonly one: T; readonly size: number }>;
  size: number;
}

/** A tenant without entries has no line: there are never more lines than entries. */
export function createTenantFifo<T>(): TenantFifo<T> {
  const lines = new Map<TenantId, Line<T>>();

  return {
    add(tenantId, name, one, size = 0) {
      const line = lines.get(tenantId) ?? { entries: createFifo(), size: 0 };
      lines.set(tenantId, line);
      if (line.entries.has(name)) return;
      line.entries.add(name, { one, size });
      line.size += size;
    },
    delete(tenantId, name) {
      const line = lines.get(tenantId);
      const entry = line?.entries.delete(name);
      if (line === undefined || entry === undefined) return;
      line.size -= entry.size;
      if (line.entries.size() === 0) lines.delete(tenantId);
    },
    firstOf(tenantId) {
      const first = lines.get(tenantId)?.entries.first();
      return first && [first[0], first[1].one];
    },
    countOf: (tenantId) => lines.get(tenantId)?.entries.size() ?? 0,
    sizeOf: (tenantId) => lines.get(tenantId)?.size ?? 0,
  };
}
