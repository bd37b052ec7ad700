/** Typed wrapper of unbind-code.lua. Cold path. */
import { MOST_ENDED_ROOMS, type RoomName } from '../../../ports/room-records.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createUnbindCode(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'unbind-code');
  return async ({ tenantId, code, roomId }: RoomName, keptMs: number): Promise<void> => {
    await run(
      [keys.roomCodes(tenantId), keys.roomsEnded(tenantId)],
      [code, roomId, Math.ceil(keptMs), MOST_ENDED_ROOMS],
    );
  };
}
