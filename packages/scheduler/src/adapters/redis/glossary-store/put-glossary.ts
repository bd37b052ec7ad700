/** Typed wrapper of put-glossary.lua. Cold path: a tenant changes a glossary. */
import type { Glossary } from '../../../domain/glossary.ts';
import type { TenantId } from '../../../domain/ids.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createPutGlossary(connection: RedisConnection, keys: Keys, most: number) {
  const run = loadScript(connection, import.meta.url, 'put-glossary');
  return async (tenantId: TenantId, glossary: Glossary): Promise<'stored' | 'full'> => {
    const [word] = await run(
      [keys.glossaries(tenantId)],
      [glossary.glossaryId, JSON.stringify(glossary), most],
    );
    return word === 'stored' ? 'stored' : 'full';
  };
}
