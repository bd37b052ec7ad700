/** Typed wrapper of bind-code.lua. Cold path. */
import type { RoomName } from '../../../ports/room-records.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createBindCode(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'bind-code');
  return async (name: RoomName, ttlMs: number, maxRooms: number): Promise<'bound' | 'taken' | 'full'> => {
    const { tenantId, code, roomId } = name;
    const [word] = await run([keys.roomCodes(tenantId)], [code, roomId, Math.ceil(ttlMs), maxRooms]);
    return word as 'bound' | 'taken' | 'full';
  };
}
