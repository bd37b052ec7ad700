/** Typed wrapper of put-glossary.lua. Cold path: a tenant changes a glossary. */
import type { Glossary } from '../../../domain/glossary.ts';
import type { TenantId } from '../../../domain/ids.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import type { SealedPayload } from '../sealed-payload.ts';

export function createPutGlossary(
  {
    connection,
    keys,
    payload,
  }: { readonly connection: RedisConnection; readonly keys: Keys; readonly payload: SealedPayload },
  most: number,
) {
  const run = loadScript(connection, import.meta.url, 'put-glossary');
  return async (tenantId: TenantId, glossary: Glossary): Promise<'stored' | 'full'> => {
    const [word] = await run(
      [keys.glossaries(tenantId)],
      [glossary.glossaryId, payload.seal(JSON.stringify(glossary)), most],
    );
    return word === 'stored' ? 'stored' : 'full';
  };
}
