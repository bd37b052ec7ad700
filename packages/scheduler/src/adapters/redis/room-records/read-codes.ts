/** Typed wrapper of read-codes.lua. Cold path. */
import type { TenantId } from '../../../domain/ids.ts';
import type { RoomName } from '../../../ports/room-records.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createReadCodes(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'read-codes');
  return async (tenantId: TenantId, only: string): Promise<readonly RoomName[]> => {
    const [, ...words] = await run([keys.roomCodes(tenantId)], [only]);
    const names: RoomName[] = [];
    for (let at = 0; at + 1 < words.length; at += 2)
      names.push({ tenantId, code: String(words[at]), roomId: String(words[at + 1]) });
    return names;
  };
}
