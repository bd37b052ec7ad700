/**
 * Port: which instances follow which rooms. A follower has members in the room, or readers of its captions, and drives what they say.
 *
 * The law: a follower is an "instance/incarnation". It is added before anything is said there, and stays until it is removed: by itself
 * when its last member has left, or by another instance when it is dead. What `roomsOf` names was added and not removed, and may name a
 * room that has ended. A thrown error means *unknown*; every call may be repeated with the same effect.
 */
import type { RoomId } from '../domain/room.ts';

export interface RoomFollowers {
  add(roomId: RoomId, follower: string): Promise<void>;
  remove(roomId: RoomId, follower: string): Promise<void>;
  /** Rooms that any incarnation of the instance follows. */
  roomsOf(instanceId: string): Promise<readonly { readonly roomId: RoomId; readonly follower: string }[]>;
}
