/** Hot path: the rooms that this instance follows, and which of its sessions are in which room. Follows a room once, however many ask. */
import type { MemberId, RoomId, RoomRecord } from '../../domain/room.ts';
import type { FollowedRoom } from './followed-room.ts';
import { followRoom } from './followed-room.ts';
import type { LocalMember, RoomIndex } from './local-members.ts';
import type { RoomDeps } from './room-deps.ts';
import type { SavedEnd } from './room-service.ts';
import {
  dropFollower,
  endRoom,
  isIdle,
  markAway,
  noteActive,
  putBack,
  removeAway,
  setAudience,
} from './room-steps.ts';
import type { RoomWriter } from './room-writer.ts';

export interface RoomTable {
  /** Undefined: there is no such room, or it has ended. */
  follow(roomId: RoomId): Promise<FollowedRoom | undefined>;
  followed(roomId: RoomId): FollowedRoom | undefined;
  /** The room of a session with a connection to this instance. */
  of(memberId: MemberId): { readonly followed: FollowedRoom; readonly member: LocalMember } | undefined;
  /** The same, also for a member whose connection has ended. */
  roomOf(memberId: MemberId): FollowedRoom | undefined;
  /** Saves the end; every follower informs its members. */
  end(roomId: RoomId, reason: SavedEnd): Promise<RoomRecord | undefined>;
  /** What is due in all rooms. Called once a second. */
  tick(): void;
  /** Continues the rooms of a dead instance. */
  takeOver(instanceId: string): Promise<void>;
  /** The store may have lost writes. */
  reassert(isAffected: (roomId: RoomId) => boolean): void;
  /** This instance may serve nobody any more. */
  abandonAll(): void;
  counts(): { readonly rooms: number; readonly members: number };
}

export function createRoomTable(
  deps: RoomDeps & {
    readonly writer: RoomWriter;
    readonly ended: (room: RoomRecord, reason: SavedEnd) => void;
  },
): RoomTable {
  const { clock, log, stores, settings, writer } = deps;
  const { limits } = settings;
  const rooms = new Map<RoomId, FollowedRoom>();
  const index: RoomIndex = new Map();
  const following = new Map<RoomId, Promise<FollowedRoom | undefined>>();
  /** Rooms that this instance stops following just now. */
  const leaving = new Map<RoomId, Promise<void>>();
  /** Rooms whose housekeeping writes just now. */
  const busy = new Set<RoomId>();

  async function follow(roomId: RoomId): Promise<FollowedRoom | undefined> {
    const known = rooms.get(roomId);
    if (known !== undefined) return known;
    const pending = following.get(roomId) ?? begin(roomId);
    following.set(roomId, pending);
    return pending;
  }

  function roomOf(memberId: MemberId): FollowedRoom | undefined {
    const roomId = index.get(memberId);
    return roomId === undefined ? undefined : rooms.get(roomId);
  }

  async function begin(roomId: RoomId): Promise<FollowedRoom | undefined> {
    try {
      // Otherwise that would remove the new follower, too.
      await leaving.get(roomId)?.catch(() => undefined);
      const room = await followRoom({ ...deps, index, ended: forget }, roomId);
      if (room !== undefined) rooms.set(roomId, room);
      return room;
    } finally {
      following.delete(roomId);
    }
  }

  function forget({ roomId }: RoomRecord): void {
    rooms.delete(roomId);
    stores.followers.remove(roomId, deps.self()).catch((fault: unknown) => {
      log.warn({ room_id: roomId, err: fault }, 'could not stop following a room that has ended');
    });
  }

  async function end(roomId: RoomId, reason: SavedEnd): Promise<RoomRecord | undefined> {
    let isMine = false;
    const changed = await writer.change(roomId, (before) => {
      const after = endRoom(clock.now())(before);
      isMine = after !== undefined;
      return after;
    });
    // Another instance may have ended it first, and informs who waits for that.
    if (changed.kind !== 'done' || !isMine) return undefined;
    const { room } = changed;
    // The end is saved: it is reported even if the store does not answer from here on.
    deps.ended(room, reason);
    rooms.get(roomId)?.saved(room);
    const keptMs = room.isRecorded ? settings.retentionMs : 0;
    await stores.records.unbind(room, keptMs);
    await stores.log.expire(roomId, keptMs);
    return room;
  }

  async function keepUp(followed: FollowedRoom): Promise<void> {
    const { roomId, local } = followed;
    await followed.restored();
    const room = followed.room();
    const at = clock.now();
    const self = deps.self();
    if (isIdle(room, followed.activeAt(), at, limits)) {
      await end(roomId, 'expired');
      return;
    }
    await keepPresent(followed);
    const ghosts = room.members.filter(
      ({ memberId, follower, awaySince }) =>
        follower === self && awaySince === undefined && !local.members.has(memberId),
    );
    for (const { memberId, joinId } of ghosts) await writer.change(roomId, markAway(memberId, joinId, at));
    if (removeAway(at, limits)(room) !== undefined) await writer.change(roomId, removeAway(at, limits));
    const audience = setAudience(self, local.audience());
    if (audience(room) !== undefined) await writer.change(roomId, audience);
    if (followed.activeAt() - room.activeAt > limits.idleMs / 2) {
      await writer.change(roomId, noteActive(followed.activeAt()));
      await stores.records.bind(room, 2 * limits.idleMs, limits.maxPerTenant);
    }
    await takeOverOverdue(followed);
    // Of an empty room one instance remains, to end it in time.
    if (
      local.isUsed() ||
      followed.driver.size() > 0 ||
      room.members.length === 0 ||
      room.members.some(({ follower }) => follower === self)
    )
      return;
    rooms.delete(roomId);
    followed.stop();
    const left = stores.followers.remove(roomId, self).finally(() => leaving.delete(roomId));
    leaving.set(roomId, left);
    await left;
  }

  /**
   * A driver that does not follow the room any more is dead. What it accepted may arrive after its rooms were taken over, and every language
   * would wait for that.
   */
  async function takeOverOverdue(followed: FollowedRoom): Promise<void> {
    const { roomId } = followed;
    for (const driver of followed.overdueDrivers()) {
      const all = await stores.followers.roomsOf(driver.slice(0, driver.lastIndexOf('/')));
      const isFollowing = all.some((each) => each.roomId === roomId && each.follower === driver);
      if (!isFollowing) await followed.takeOverFrom(driver);
    }
  }

  /** The record lists the members that are connected here, also after the store has lost it. */
  async function keepPresent({ roomId, local, room }: FollowedRoom): Promise<void> {
    const step = putBack(() => [...local.members.values()].flatMap(({ listed }) => listed ?? []));
    if (step(room()) !== undefined) await writer.change(roomId, step);
  }

  async function reassert(followed: FollowedRoom, isAffected: boolean): Promise<void> {
    const { roomId } = followed;
    if (isAffected) {
      followed.doubt();
      await followed.restored();
      await keepPresent(followed);
      return;
    }
    // The code is stored with the tenant, and what this instance follows with the instance.
    await stores.followers.add(roomId, deps.self());
    await stores.records.bind(followed.room(), 2 * limits.idleMs, limits.maxPerTenant);
  }

  async function takeOverRoom(roomId: RoomId, dead: string): Promise<void> {
    const followed = await follow(roomId);
    if (followed !== undefined) {
      const release = followed.local.hold();
      try {
        await writer.change(roomId, dropFollower(dead, clock.now()));
        await followed.takeOverFrom(dead);
      } finally {
        release();
      }
    }
    // Last, so that another survivor finds it if this one dies meanwhile.
    await stores.followers.remove(roomId, dead);
  }

  return {
    follow,
    followed: (roomId) => rooms.get(roomId),
    of(memberId) {
      const followed = roomOf(memberId);
      const member = followed?.local.members.get(memberId);
      return followed && member && { followed, member };
    },
    roomOf,
    end,
    tick() {
      for (const followed of [...rooms.values()]) {
        followed.driver.endUnheard(clock.now());
        const { roomId } = followed;
        if (busy.has(roomId)) continue;
        busy.add(roomId);
        keepUp(followed)
          .catch((fault: unknown) =>
            log.warn({ room_id: roomId, err: fault }, 'the housekeeping of a room failed'),
          )
          .finally(() => busy.delete(roomId));
      }
    },
    async takeOver(instanceId) {
      const all = await stores.followers.roomsOf(instanceId);
      for (const { roomId, follower } of all)
        if (follower !== deps.self()) await takeOverRoom(roomId, follower);
    },
    reassert(isAffected) {
      for (const followed of rooms.values())
        reassert(followed, isAffected(followed.roomId)).catch((fault: unknown) =>
          log.warn({ room_id: followed.roomId, err: fault }, 'a room is written again later'),
        );
    },
    abandonAll() {
      for (const followed of rooms.values()) {
        for (const { listen } of followed.local.readers) listen({ kind: 'ended', reason: 'fenced' });
        followed.stop();
      }
      rooms.clear();
    },
    counts() {
      let members = 0;
      for (const { local } of rooms.values()) members += local.members.size + local.readers.size;
      return { rooms: rooms.size, members };
    },
  };
}
