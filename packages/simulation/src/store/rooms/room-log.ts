/** Simulation: logs of rooms and who follows them, on the shard of each room; what an instance follows is on its own shard. */
import {
  acceptIn,
  appendTo,
  createStoredLog,
  endsOf,
  eraseIn,
  linesAfter,
  type StoredLog,
  skipTo,
} from '../../../../scheduler/dist/adapters/memory/stored-log.js';
import type { RoomId } from '../../../../scheduler/dist/domain/room.js';
import type { RoomFollowers } from '../../../../scheduler/dist/ports/room-followers.js';
import type { RoomLog, RoomLogLimits } from '../../../../scheduler/dist/ports/room-log.js';
import type { Lines } from '../servers/lines.ts';
import type { Shard } from '../servers/shard.ts';
import { tags } from '../servers/tags.ts';

export const followersOf = ({ state, now }: Shard, roomId: RoomId): readonly string[] => [
  ...(state.names.get(followersKey(roomId), now())?.keys() ?? []),
];

export function createRoomLog(lines: Lines, limits: RoomLogLimits): RoomLog {
  const on = <T>(roomId: RoomId, what: string, run: (shard: Shard, now: number) => T): Promise<T> =>
    lines.ask(tags.room(roomId), what, (shard) => run(shard, shard.now()));

  const renewed = (shard: Shard, roomId: RoomId, log: StoredLog) => {
    shard.state.roomLogs.expire(roomId, shard.now() + log.ttlMs);
    return { ...endsOf(log), followers: followersOf(shard, roomId) };
  };

  return {
    open: (roomId, atLeast) =>
      on(roomId, 'open-log', ({ state }, now) => {
        const log = state.roomLogs.get(roomId, now) ?? createStoredLog(limits.maxAgeMs);
        skipTo(log, atLeast);
        log.ttlMs = limits.maxAgeMs;
        state.roomLogs.put(roomId, log, now + log.ttlMs);
        return endsOf(log);
      }),
    accept: (roomId, utterance) =>
      on(roomId, 'append-entries', (shard, now) => {
        const log = shard.state.roomLogs.get(roomId, now);
        if (log === undefined) return { kind: 'gone' };
        const accept = acceptIn(log, utterance, { ...limits, now });
        return { kind: 'accepted', accept, ...renewed(shard, roomId, log) };
      }),
    append: (roomId, entries) =>
      on(roomId, 'append-entries', (shard, now) => {
        const log = shard.state.roomLogs.get(roomId, now);
        if (log === undefined) return { kind: 'gone' };
        const standing = appendTo(log, entries, { ...limits, now });
        return { kind: 'appended', standing, ...renewed(shard, roomId, log) };
      }),
    read: (roomId, after, limit) =>
      on(roomId, 'read-log', ({ state }, now) => {
        const log = state.roomLogs.get(roomId, now);
        if (log === undefined) return { kind: 'gone' };
        return { kind: 'read', lines: linesAfter(log, after, limit), ...endsOf(log) };
      }),
    erase: (roomId, said) =>
      on(roomId, 'erase-said', (shard, now) => {
        const log = shard.state.roomLogs.get(roomId, now);
        const utterances = log === undefined ? 0 : eraseIn(log, said);
        return { utterances, followers: followersOf(shard, roomId) };
      }),
    expire: (roomId, ttlMs) =>
      on(roomId, 'expire-log', ({ state }, now) => {
        const log = state.roomLogs.get(roomId, now);
        if (log === undefined) return;
        log.ttlMs = ttlMs;
        state.roomLogs.expire(roomId, now + ttlMs);
      }),
  };
}

export function createFollowers(lines: Lines): RoomFollowers {
  const change = (tag: number, key: string, run: (set: Map<string, number>) => void): Promise<void> =>
    lines.ask(tag, 'set-follower', ({ state, now }) => {
      const set = state.names.get(key, now()) ?? new Map<string, number>();
      run(set);
      if (set.size === 0) state.names.delete(key);
      else state.names.put(key, set);
    });
  const instanceOf = (follower: string): string => follower.slice(0, follower.lastIndexOf('/'));
  const indexed = (roomId: RoomId, follower: string): string => `${follower} ${roomId}`;

  return {
    async add(roomId, follower) {
      const instanceId = instanceOf(follower);
      await change(tags.instance(instanceId), indexKey(instanceId), (set) =>
        set.set(indexed(roomId, follower), 0),
      );
      await change(tags.room(roomId), followersKey(roomId), (set) => set.set(follower, 0));
    },
    async remove(roomId, follower) {
      const instanceId = instanceOf(follower);
      await change(tags.room(roomId), followersKey(roomId), (set) => set.delete(follower));
      await change(tags.instance(instanceId), indexKey(instanceId), (set) =>
        set.delete(indexed(roomId, follower)),
      );
    },
    roomsOf: (instanceId) =>
      lines.ask(tags.instance(instanceId), 'read-rooms', ({ state, now }) =>
        [...(state.names.get(indexKey(instanceId), now())?.keys() ?? [])].map((entry) => {
          const [follower = '', roomId = ''] = entry.split(' ');
          return { roomId, follower };
        }),
      ),
  };
}

const followersKey = (roomId: RoomId): string => `rooms:followers:${roomId}`;
const indexKey = (instanceId: string): string => `rooms:followed:${instanceId}`;
