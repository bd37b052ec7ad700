/** Logs of rooms, in Redis: each is one hash in the slot of its room, beside the set of its followers. Every write is one script. */
import type { RoomFollowers } from '../../ports/room-followers.ts';
import type { RoomLog, RoomLogLimits } from '../../ports/room-log.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import type { Keys } from './keys.ts';
import { createAppendEntries } from './room-log/append-entries.ts';
import { createEraseSaid } from './room-log/erase-said.ts';
import { createExpireLog } from './room-log/expire-log.ts';
import { createOpenLog } from './room-log/open-log.ts';
import { createReadLog } from './room-log/read-log.ts';
import { createFollowers } from './room-log/set-follower.ts';
import { PLAIN, type SealedPayload } from './sealed-payload.ts';

export function createRoomLog(
  deps: {
    readonly connection: RedisConnection;
    readonly keys: Keys;
    readonly payload?: SealedPayload;
  } & RoomLogLimits,
): { readonly log: RoomLog; readonly followers: RoomFollowers } {
  const { connection, keys, payload = PLAIN, ...limits } = deps;
  return {
    log: {
      open: createOpenLog(connection, keys, limits.maxAgeMs),
      ...createAppendEntries({ connection, keys, payload }, limits),
      read: createReadLog(connection, keys, payload),
      erase: createEraseSaid(connection, keys),
      expire: createExpireLog(connection, keys),
    },
    followers: createFollowers(connection, keys),
  };
}
