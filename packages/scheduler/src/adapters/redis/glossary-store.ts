/** Glossaries in Redis: one hash per tenant, the terms sealed; each change is one command or script. */
import { type Glossary, MOST_GLOSSARIES } from '../../domain/glossary.ts';
import type { GlossaryStore } from '../../ports/glossary-store.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { createPutGlossary } from './glossary-store/put-glossary.ts';
import type { Keys } from './keys.ts';
import { PLAIN, type SealedPayload } from './sealed-payload.ts';

export function createGlossaryStore({
  connection,
  keys,
  payload = PLAIN,
}: {
  readonly connection: RedisConnection;
  readonly keys: Keys;
  readonly payload?: SealedPayload;
}): GlossaryStore {
  return {
    put: createPutGlossary({ connection, keys, payload }, MOST_GLOSSARIES),
    get: (tenantId, glossaryId) =>
      asDependency('reading a glossary', async () => {
        const text = await connection.hget(keys.glossaries(tenantId), glossaryId);
        return text === null ? undefined : (JSON.parse(payload.open(text)) as Glossary);
      }),
    list: (tenantId) =>
      asDependency('listing glossaries', async () =>
        (await connection.hkeys(keys.glossaries(tenantId))).sort(),
      ),
    remove: (tenantId, glossaryId) =>
      asDependency(
        'removing a glossary',
        async () => (await connection.hdel(keys.glossaries(tenantId), glossaryId)) > 0,
      ),
  };
}
