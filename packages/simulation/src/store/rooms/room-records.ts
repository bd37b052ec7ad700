/** Simulation: records of rooms, on the shard of each room, and their codes, on the shard of the tenant. */
import type { TenantId } from '../../../../scheduler/dist/domain/ids.js';
import type { RoomId } from '../../../../scheduler/dist/domain/room.js';
import type { RoomName, RoomRecords } from '../../../../scheduler/dist/ports/room-records.js';
import type { Lines } from '../servers/lines.ts';
import type { Shard } from '../servers/shard.ts';
import { tags } from '../servers/tags.ts';
import { followersOf } from './room-log.ts';

export function createRoomRecords(lines: Lines): RoomRecords {
  const onCodes = <T>(
    tenantId: TenantId,
    what: string,
    run: (codes: Map<string, { roomId: RoomId; until: number }>, now: number, shard: Shard) => T,
  ): Promise<T> =>
    lines.ask(tags.tenant(tenantId), what, (shard) => {
      const { state, now } = shard;
      const codes = state.roomCodes.get(tenantId, now()) ?? new Map();
      for (const [code, { until }] of codes) if (until <= now()) codes.delete(code);
      const result = run(codes, now(), shard);
      if (codes.size === 0) state.roomCodes.delete(tenantId);
      else state.roomCodes.put(tenantId, codes);
      return result;
    });

  return {
    bind: ({ tenantId, code, roomId }: RoomName, ttlMs, maxRooms) =>
      onCodes(tenantId, 'bind-code', (codes, now) => {
        const bound = codes.get(code);
        if (bound !== undefined && bound.roomId !== roomId) return 'taken';
        if (bound === undefined && codes.size >= maxRooms) return 'full';
        codes.set(code, { roomId, until: now + ttlMs });
        return 'bound';
      }),
    unbind: ({ tenantId, code, roomId }, keptMs) =>
      onCodes(tenantId, 'unbind-code', (codes, now, { state }) => {
        if (keptMs > 0) {
          const ended = state.names.get(endedKey(tenantId), now) ?? new Map<string, number>();
          state.names.put(endedKey(tenantId), ended.set(roomId, now + keptMs));
        }
        if (codes.get(code)?.roomId === roomId) codes.delete(code);
      }),
    find: (tenantId, code) => onCodes(tenantId, 'read-codes', (codes) => codes.get(code)?.roomId),
    list: (tenantId) =>
      onCodes(tenantId, 'read-codes', (codes) =>
        [...codes].map(([code, { roomId }]) => ({ tenantId, code, roomId })),
      ),
    ended: (tenantId) =>
      lines.ask(tags.tenant(tenantId), 'read-ended', ({ state, now }) => [
        ...(state.names.get(endedKey(tenantId), now())?.keys() ?? []),
      ]),
    load: (roomId) =>
      lines.ask(tags.room(roomId), 'read-room', ({ state, now }) => state.roomRecords.get(roomId, now())),
    save: (record, ttlMs) =>
      lines.ask(tags.room(record.roomId), 'save-room', (shard) => {
        const { state, now } = shard;
        const { roomId, version, changeId } = record;
        const stored = state.roomRecords.get(roomId, now());
        const isRepeat = stored?.version === version && stored.changeId === changeId;
        if (!isRepeat && (stored?.version ?? 0) !== version - 1) return { kind: 'stale', record: stored };
        const kept = isRepeat ? stored : structuredClone(record);
        state.roomRecords.put(roomId, kept, now() + ttlMs);
        return { kind: 'saved', followers: followersOf(shard, roomId) };
      }),
    restore: (record, ttlMs) =>
      lines.ask(tags.room(record.roomId), 'restore-room', (shard) => {
        const { state, now } = shard;
        const { roomId, version } = record;
        const stored = state.roomRecords.get(roomId, now());
        if ((stored?.version ?? 0) >= version) return { kind: 'stale', record: stored };
        state.roomRecords.put(roomId, structuredClone(record), now() + ttlMs);
        return { kind: 'saved', followers: followersOf(shard, roomId) };
      }),
  };
}

const endedKey = (tenantId: TenantId): string => `rooms:ended:${tenantId}`;
