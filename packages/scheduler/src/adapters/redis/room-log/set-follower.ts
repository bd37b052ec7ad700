/** Typed wrapper of set-follower.lua: who follows a room, in the slot of the room, and an index of it in the slot of the instance. Cold path. */
import type { RoomId } from '../../../domain/room.ts';
import type { RoomFollowers } from '../../../ports/room-followers.ts';
import { asDependency } from '../connection/dependency.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import { FOLLOWERS_MEMORY_MS, type Keys } from '../keys.ts';

const UNTIL_EMPTY = 0;
const REMOVE = '';

export function createFollowers(connection: RedisConnection, keys: Keys): RoomFollowers {
  const run = loadScript(connection, import.meta.url, 'set-follower');

  const setFollower = async (key: string, member: string, memory: number | string): Promise<void> => {
    await run([key], [member, memory]);
  };

  return {
    async add(roomId, follower) {
      const { instanceId, incarnation } = partsOf(follower);
      // First the index: a follower that is in no index could not be removed after its death.
      await setFollower(keys.instanceRooms(instanceId), `${incarnation}/${roomId}`, UNTIL_EMPTY);
      await setFollower(keys.roomFollowers(roomId), follower, FOLLOWERS_MEMORY_MS);
    },
    async remove(roomId, follower) {
      const { instanceId, incarnation } = partsOf(follower);
      await setFollower(keys.roomFollowers(roomId), follower, REMOVE);
      await setFollower(keys.instanceRooms(instanceId), `${incarnation}/${roomId}`, REMOVE);
    },
    roomsOf: (instanceId) =>
      asDependency('reading the rooms that an instance follows', async () => {
        const members = await connection.smembers(keys.instanceRooms(instanceId));
        return members.map((member) => {
          const at = member.indexOf('/');
          const roomId: RoomId = member.slice(at + 1);
          return { roomId, follower: `${instanceId}/${member.slice(0, at)}` };
        });
      }),
  };
}

function partsOf(follower: string): { readonly instanceId: string; readonly incarnation: string } {
  const at = follower.lastIndexOf('/');
  return { instanceId: follower.slice(0, at), incarnation: follower.slice(at + 1) };
}
