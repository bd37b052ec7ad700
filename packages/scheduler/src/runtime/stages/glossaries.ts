/** Hot path of jobs with a glossary: glossaries of the store, remembered for a few seconds. */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { Glossary } from '../../domain/glossary.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';
import type { GlossaryStore } from '../../ports/glossary-store.ts';

/** Also how long other instances use a glossary that was changed here. */
const REMEMBERED_MS = 5_000;
const MOST_REMEMBERED = 500;

export interface Glossaries extends GlossaryStore {
  /** As it was at most a few seconds ago. A thrown error means *unknown*. */
  recent(tenantId: TenantId, glossaryId: string): MaybePromise<Glossary | undefined>;
}

export function createGlossaries({
  store,
  clock,
}: {
  readonly store: GlossaryStore;
  readonly clock: Clock;
}): Glossaries {
  /** `undefined` is remembered as well: a job that names a missing glossary must not read it each time. */
  const known = createBoundedMap<string, { readonly glossary: Glossary | undefined }>({
    max: MOST_REMEMBERED,
    maxAgeMs: REMEMBERED_MS,
    now: clock.now,
  });
  const keyOf = (tenantId: TenantId, glossaryId: string): string => `${tenantId}/${glossaryId}`;

  function remember(key: string, glossary: Glossary | undefined): Glossary | undefined {
    known.set(key, { glossary });
    return glossary;
  }

  return {
    recent(tenantId, glossaryId) {
      const key = keyOf(tenantId, glossaryId);
      const found = known.get(key);
      if (found !== undefined) return found.glossary;
      const read = store.get(tenantId, glossaryId);
      return read instanceof Promise ? read.then((glossary) => remember(key, glossary)) : remember(key, read);
    },
    get: store.get,
    list: store.list,
    async put(tenantId, glossary) {
      try {
        return await store.put(tenantId, glossary);
      } finally {
        known.delete(keyOf(tenantId, glossary.glossaryId));
      }
    },
    async remove(tenantId, glossaryId) {
      try {
        return await store.remove(tenantId, glossaryId);
      } finally {
        known.delete(keyOf(tenantId, glossaryId));
      }
    },
  };
}
