/** Typed wrapper of erase-said.lua. Cold path. */
import type { RoomId } from '../../../domain/room.ts';
import { type Said, utteranceKey } from '../../../domain/room-log.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { lineBreakFree } from './log-line.ts';

export function createEraseSaid(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'erase-said');
  return async (roomId: RoomId, { speaker, utterance }: Said) => {
    const key = utterance === undefined ? '' : lineBreakFree(utteranceKey(utterance));
    const [, count, ...followers] = await run(
      [keys.roomLog(roomId), keys.roomFollowers(roomId)],
      [lineBreakFree(speaker), key],
    );
    return { utterances: Number(count), followers: followers.map(String) };
  };
}
