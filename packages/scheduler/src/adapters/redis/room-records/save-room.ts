/** Typed wrapper of save-room.lua. Cold path: once per change of a room, and per room and instance after a failover. */
import type { RoomRecord } from '../../../domain/room.ts';
import type { SaveRoomResult } from '../../../ports/room-records.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import { FOLLOWERS_MEMORY_MS, type Keys } from '../keys.ts';
import type { SealedPayload } from '../sealed-payload.ts';

export function createSaveRoom(
  connection: RedisConnection,
  keys: Keys,
  payload: SealedPayload,
  over: 'version before' | 'lower version',
) {
  const run = loadScript(connection, import.meta.url, 'save-room');
  return async (record: RoomRecord, ttlMs: number): Promise<SaveRoomResult> => {
    const { roomId, version, changeId } = record;
    const [word, ...rest] = await run(
      [keys.roomRecord(roomId), keys.roomFollowers(roomId)],
      [
        version,
        changeId,
        payload.seal(JSON.stringify(record)),
        Math.ceil(ttlMs),
        FOLLOWERS_MEMORY_MS,
        over === 'version before' ? 'before' : 'lower',
      ],
    );
    if (word === 'saved') return { kind: 'saved', followers: rest.map(String) };
    const [body] = rest;
    return { kind: 'stale', record: body === '' ? undefined : JSON.parse(payload.open(String(body))) };
  };
}
