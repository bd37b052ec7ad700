/** Glossaries in the memory of one process: they end with it. */
import { type Glossary, MOST_GLOSSARIES } from '../../domain/glossary.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { GlossaryStore } from '../../ports/glossary-store.ts';

/** Of all tenants: about a gigabyte at the very most. */
const MOST_IN_ALL = 4_000;

export function createGlossaryStore(): GlossaryStore {
  const tenants = new Map<TenantId, Map<string, Glossary>>();
  let total = 0;
  return {
    put(tenantId, glossary) {
      const own = tenants.get(tenantId) ?? new Map<string, Glossary>();
      const isNew = !own.has(glossary.glossaryId);
      if (isNew && (own.size >= MOST_GLOSSARIES || total >= MOST_IN_ALL)) return 'full';
      if (isNew) total += 1;
      tenants.set(tenantId, own.set(glossary.glossaryId, glossary));
      return 'stored';
    },
    get: (tenantId, glossaryId) => tenants.get(tenantId)?.get(glossaryId),
    list: (tenantId) => [...(tenants.get(tenantId)?.keys() ?? [])].sort(),
    remove(tenantId, glossaryId) {
      const own = tenants.get(tenantId);
      if (own?.delete(glossaryId) !== true) return false;
      total -= 1;
      if (own.size === 0) tenants.delete(tenantId);
      return true;
    },
  };
}
