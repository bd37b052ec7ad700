/** Logs of rooms, in the memory of one process, and who follows them. */
import type { RoomId } from '../../domain/room.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RoomFollowers } from '../../ports/room-followers.ts';
import type { RoomLog, RoomLogLimits } from '../../ports/room-log.ts';
import {
  acceptIn,
  appendTo,
  createStoredLog,
  endsOf,
  eraseIn,
  linesAfter,
  type StoredLog,
  skipTo,
} from './stored-log.ts';

interface Log {
  readonly stored: StoredLog;
  expiresAt: number;
}

export interface RoomLogStore {
  readonly log: RoomLog;
  readonly followers: RoomFollowers & { of(roomId: RoomId): readonly string[] };
}

export function createRoomLog(deps: { readonly clock: Pick<Clock, 'now'> } & RoomLogLimits): RoomLogStore {
  const { clock, ...limits } = deps;
  const logs = new Map<RoomId, Log>();
  const followers = new Map<RoomId, Set<string>>();

  function find(roomId: RoomId): Log | undefined {
    const log = logs.get(roomId);
    if (log === undefined || log.expiresAt > clock.now()) return log;
    logs.delete(roomId);
    return undefined;
  }

  const renewed = (roomId: RoomId, log: Log) => {
    log.expiresAt = clock.now() + log.stored.ttlMs;
    return { ...endsOf(log.stored), followers: [...(followers.get(roomId) ?? [])] };
  };

  const by = () => ({ ...limits, now: clock.now() });

  return {
    log: {
      async open(roomId, atLeast) {
        const now = clock.now();
        for (const [id, { expiresAt }] of logs) if (expiresAt <= now) logs.delete(id);
        const log = find(roomId) ?? { stored: createStoredLog(limits.maxAgeMs), expiresAt: 0 };
        logs.set(roomId, log);
        skipTo(log.stored, atLeast);
        log.stored.ttlMs = limits.maxAgeMs;
        renewed(roomId, log);
        return endsOf(log.stored);
      },
      async accept(roomId, utterance) {
        const log = find(roomId);
        if (log === undefined) return { kind: 'gone' };
        const accept = acceptIn(log.stored, utterance, by());
        return { kind: 'accepted', accept, ...renewed(roomId, log) };
      },
      async append(roomId, entries) {
        const log = find(roomId);
        if (log === undefined) return { kind: 'gone' };
        const standing = appendTo(log.stored, entries, by());
        return { kind: 'appended', standing, ...renewed(roomId, log) };
      },
      async read(roomId, after, limit) {
        const log = find(roomId);
        if (log === undefined) return { kind: 'gone' };
        return { kind: 'read', lines: linesAfter(log.stored, after, limit), ...endsOf(log.stored) };
      },
      async erase(roomId, said) {
        const log = find(roomId);
        const utterances = log === undefined ? 0 : eraseIn(log.stored, said);
        return { utterances, followers: [...(followers.get(roomId) ?? [])] };
      },
      async expire(roomId, ttlMs) {
        const log = find(roomId);
        if (log === undefined) return;
        log.stored.ttlMs = ttlMs;
        log.expiresAt = clock.now() + ttlMs;
        find(roomId);
      },
    },
    followers: {
      of: (roomId) => [...(followers.get(roomId) ?? [])],
      async add(roomId, follower) {
        const all = followers.get(roomId) ?? new Set();
        followers.set(roomId, all.add(follower));
      },
      async remove(roomId, follower) {
        const all = followers.get(roomId);
        all?.delete(follower);
        if (all?.size === 0) followers.delete(roomId);
      },
      async roomsOf(instanceId) {
        return [...followers].flatMap(([roomId, all]) =>
          [...all]
            .filter((follower) => follower.startsWith(`${instanceId}/`))
            .map((follower) => ({ roomId, follower })),
        );
      },
    },
  };
}
