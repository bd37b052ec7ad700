/** Typed wrapper of open-log.lua. Cold path. */
import type { RoomId } from '../../../domain/room.ts';
import type { LogEnds } from '../../../ports/room-log.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import { FOLLOWERS_MEMORY_MS, type Keys } from '../keys.ts';

export function createOpenLog(connection: RedisConnection, keys: Keys, maxAgeMs: number) {
  const run = loadScript(connection, import.meta.url, 'open-log');
  return async (roomId: RoomId, atLeast?: Pick<LogEnds, 'last' | 'seq'>): Promise<LogEnds> => {
    const [, first, last, seq] = await run(
      [keys.roomLog(roomId), keys.roomFollowers(roomId)],
      [atLeast?.last ?? 0, atLeast?.seq ?? 0, maxAgeMs, FOLLOWERS_MEMORY_MS],
    );
    return { first: Number(first), last: Number(last), seq: Number(seq) };
  };
}
