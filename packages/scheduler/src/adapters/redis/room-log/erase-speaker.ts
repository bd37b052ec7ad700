/** Typed wrapper of erase-speaker.lua. Cold path. */
import type { MemberId, RoomId } from '../../../domain/room.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { lineBreakFree } from './log-line.ts';

export function createEraseSpeaker(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'erase-speaker');
  return async (roomId: RoomId, speaker: MemberId): Promise<number> => {
    const [, count] = await run([keys.roomLog(roomId)], [lineBreakFree(speaker)]);
    return Number(count);
  };
}
