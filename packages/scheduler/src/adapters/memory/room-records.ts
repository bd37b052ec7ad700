/** Records of rooms and their codes, in the memory of one process. */
import type { TenantId } from '../../domain/ids.ts';
import type { RoomId, RoomRecord } from '../../domain/room.ts';
import type { Clock } from '../../ports/clock.ts';
import {
  MOST_ENDED_ROOMS,
  type RoomName,
  type RoomRecords,
  type SaveRoomResult,
} from '../../ports/room-records.ts';

interface Expiring {
  readonly expiresAt: number;
}

/** `followersOf`: of a room, as its log has them. */
export function createRoomRecords(deps: {
  readonly clock: Pick<Clock, 'now'>;
  readonly followersOf: (roomId: RoomId) => readonly string[];
}): RoomRecords {
  const { clock, followersOf } = deps;
  const records = new Map<RoomId, Expiring & { readonly record: RoomRecord }>();
  const codes = new Map<TenantId, Map<string, Expiring & { readonly roomId: RoomId }>>();
  const ended = new Map<TenantId, Map<RoomId, Expiring>>();

  function codesOf(tenantId: TenantId) {
    const now = clock.now();
    const all = codes.get(tenantId) ?? new Map();
    for (const [code, { expiresAt }] of all) if (expiresAt <= now) all.delete(code);
    return all;
  }

  function endedOf(tenantId: TenantId) {
    const now = clock.now();
    const rooms = ended.get(tenantId) ?? new Map<RoomId, Expiring>();
    for (const [roomId, { expiresAt }] of rooms) if (expiresAt <= now) rooms.delete(roomId);
    if (rooms.size === 0) ended.delete(tenantId);
    return rooms;
  }

  function find(roomId: RoomId): RoomRecord | undefined {
    const found = records.get(roomId);
    if (found === undefined || found.expiresAt > clock.now()) return found?.record;
    records.delete(roomId);
    return undefined;
  }

  function put(record: RoomRecord, ttlMs: number): SaveRoomResult {
    const { roomId } = record;
    records.set(roomId, { record: structuredClone(record), expiresAt: clock.now() + ttlMs });
    return { kind: 'saved', followers: [...followersOf(roomId)] };
  }

  return {
    async bind({ tenantId, code, roomId }: RoomName, ttlMs, maxRooms) {
      const all = codesOf(tenantId);
      const bound = all.get(code);
      if (bound !== undefined && bound.roomId !== roomId) return 'taken';
      if (bound === undefined && all.size >= maxRooms) return 'full';
      all.set(code, { roomId, expiresAt: clock.now() + ttlMs });
      codes.set(tenantId, all);
      return 'bound';
    },
    async unbind({ tenantId, code, roomId }, keptMs) {
      if (keptMs > 0) {
        const rooms = endedOf(tenantId).set(roomId, { expiresAt: clock.now() + keptMs });
        const [oldest] = rooms.keys();
        if (rooms.size > MOST_ENDED_ROOMS && oldest !== undefined) rooms.delete(oldest);
        ended.set(tenantId, rooms);
      }
      const all = codesOf(tenantId);
      if (all.get(code)?.roomId === roomId) all.delete(code);
      if (all.size === 0) codes.delete(tenantId);
    },
    find: async (tenantId, code) => codesOf(tenantId).get(code)?.roomId,
    list: async (tenantId) =>
      [...codesOf(tenantId)].map(([code, { roomId }]) => ({ tenantId, code, roomId })),
    ended: async (tenantId) => [...endedOf(tenantId).keys()],
    load: async (roomId) => find(roomId),
    async save(record, ttlMs) {
      const { roomId, version, changeId } = record;
      const stored = find(roomId);
      const isRepeat = stored?.version === version && stored.changeId === changeId;
      if (!isRepeat && (stored?.version ?? 0) !== version - 1) return { kind: 'stale', record: stored };
      return put(isRepeat ? stored : record, ttlMs);
    },
    async restore(record, ttlMs) {
      const stored = find(record.roomId);
      return (stored?.version ?? 0) < record.version ? put(record, ttlMs) : { kind: 'stale', record: stored };
    },
  };
}
