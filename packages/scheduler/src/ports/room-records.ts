/**
 * Port: the records of rooms, and their codes.
 *
 * The law: a record has one version after the other; a save succeeds only over the version before its own (`version - 1`; 0: there is no
 * record), so of concurrent changes one wins and the others read again. A save with the `changeId` of the stored record is a repeat and
 * succeeds. A restore succeeds over every lower version and over none, and a repeat of it changes nothing. A code of a tenant names one
 * room; a tenant has at most `maxRooms` codes. Records and codes expire after `ttlMs` without a save or a renewal. A thrown error means *unknown*; every call may be repeated with the same effect.
 */
import type { TenantId } from '../domain/ids.ts';
import type { RoomId, RoomRecord } from '../domain/room.ts';

/** I11: of one tenant. */
export const MOST_ENDED_ROOMS = 10_000;

export interface RoomName {
  readonly tenantId: TenantId;
  readonly code: string;
  readonly roomId: RoomId;
}

export type SaveRoomResult =
  /** The caller informs these followers. */
  | { readonly kind: 'saved'; readonly followers: readonly string[] }
  | { readonly kind: 'stale'; readonly record: RoomRecord | undefined };

export interface RoomRecords {
  /** Binds the code to the room, or renews the binding. `taken`: it names another room. */
  bind(name: RoomName, ttlMs: number, maxRooms: number): Promise<'bound' | 'taken' | 'full'>;
  /** The room has ended: frees the code if it names this room. `keptMs`: its log is kept for so long, and the room is in `ended`. */
  unbind(name: RoomName, keptMs: number): Promise<void>;
  find(tenantId: TenantId, code: string): Promise<RoomId | undefined>;
  /** All rooms of the tenant; at most the limit of `bind`. */
  list(tenantId: TenantId): Promise<readonly RoomName[]>;
  /** Rooms of the tenant that were unbound with a log that is kept, perhaps a little longer; of more than MOST_ENDED_ROOMS the newest. */
  ended(tenantId: TenantId): Promise<readonly RoomId[]>;
  load(roomId: RoomId): Promise<RoomRecord | undefined>;
  save(record: RoomRecord, ttlMs: number): Promise<SaveRoomResult>;
  /** Writes a record again that the store may have lost. `stale`: it has this version, or a higher one. */
  restore(record: RoomRecord, ttlMs: number): Promise<SaveRoomResult>;
}
