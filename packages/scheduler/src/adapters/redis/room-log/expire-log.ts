/** Typed wrapper of expire-log.lua. Cold path. */
import type { RoomId } from '../../../domain/room.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createExpireLog(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'expire-log');
  return async (roomId: RoomId, ttlMs: number): Promise<void> => {
    await run([keys.roomLog(roomId)], [Math.ceil(ttlMs)]);
  };
}
