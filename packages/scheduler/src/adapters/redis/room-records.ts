/** Records of rooms, each in the slot of its room, and their codes, in the slot of the tenant, in Redis. */
import type { RoomRecords } from '../../ports/room-records.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import type { Keys } from './keys.ts';
import { createBindCode } from './room-records/bind-code.ts';
import { createReadCodes } from './room-records/read-codes.ts';
import { createSaveRoom } from './room-records/save-room.ts';
import { createUnbindCode } from './room-records/unbind-code.ts';
import { PLAIN, type SealedPayload } from './sealed-payload.ts';

export function createRoomRecords(deps: {
  readonly connection: RedisConnection;
  readonly keys: Keys;
  readonly payload?: SealedPayload;
}): RoomRecords {
  const { connection, keys, payload = PLAIN } = deps;
  const readCodes = createReadCodes(connection, keys);
  return {
    bind: createBindCode(connection, keys),
    unbind: createUnbindCode(connection, keys),
    find: async (tenantId, code) =>
      code === '' ? undefined : (await readCodes(tenantId, code)).at(0)?.roomId,
    list: (tenantId) => readCodes(tenantId, ''),
    ended: (tenantId) =>
      asDependency('listing rooms that have ended', () =>
        connection.zrange(keys.roomsEnded(tenantId), '0', '-1'),
      ),
    load: (roomId) =>
      asDependency('reading a room', async () => {
        const body = await connection.hget(keys.roomRecord(roomId), 'body');
        return body === null ? undefined : JSON.parse(payload.open(body));
      }),
    save: createSaveRoom(connection, keys, payload, 'version before'),
    restore: createSaveRoom(connection, keys, payload, 'lower version'),
  };
}
