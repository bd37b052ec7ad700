/**
 * Port: the logs of rooms. A log is the truth about what was said in its room.
 *
 * The law: entries have positions in the order in which they were appended, and are never changed, only erased and trimmed. Accepted
 * utterances are numbered in the order of acceptance; the same utterance is accepted once and keeps its number. Of entries with the same
 * key (domain/room-log.ts) the first one stands; a later one is not appended, and the caller gets the one that stands. Entries of one
 * append lie together, in their order. The oldest entries beyond the limits of count and age are trimmed; trimming waits for no reader.
 * A log that was not opened, has expired or was removed is `gone`: nothing is appended to it. Every append renews its expiry.
 * Of an erased utterance nothing is appended any more. Each append names the followers of the room (ports/room-followers.ts), whom the caller informs.
 * A thrown error means *unknown*: the entries may have been appended; every call may be repeated with the same effect.
 */

import type { RoomId } from '../domain/room.ts';
import type {
  AcceptedUtterance,
  LoggedEntry,
  LogLine,
  NumberedAccept,
  RoomEntry,
  Said,
} from '../domain/room-log.ts';

export interface RoomLogLimits {
  readonly maxEntries: number;
  /** Also the expiry of a log without an append. */
  readonly maxAgeMs: number;
}

export interface LogEnds {
  /** Position of the oldest entry that is kept; `last + 1` if there is none. */
  readonly first: number;
  /** Position of the newest entry; 0: nothing was appended yet. */
  readonly last: number;
  /** Number of the last accepted utterance. */
  readonly seq: number;
}

interface Appended extends LogEnds {
  /** "instance/incarnation" of each. */
  readonly followers: readonly string[];
}

export type AcceptResult =
  /** `accept`: the entry that stands; its driver may be another one. */
  | (Appended & { readonly kind: 'accepted'; readonly accept: Extract<LoggedEntry, { kind: 'accept' }> })
  | { readonly kind: 'gone' };

export type AppendResult =
  /** `standing`: for each entry, the one that stands. Undefined: it was not appended because it is pointless by now, or the one that stood was trimmed or erased. */
  | (Appended & { readonly kind: 'appended'; readonly standing: readonly (LoggedEntry | undefined)[] })
  | { readonly kind: 'gone' };

export type ReadResult =
  | (LogEnds & { readonly kind: 'read'; readonly lines: readonly LogLine[] })
  | { readonly kind: 'gone' };

export interface RoomLog {
  /** Opens the log, or keeps it. `atLeast`: numbers that were given out, if the store may have lost them; later ones are greater. */
  open(roomId: RoomId, atLeast?: Pick<LogEnds, 'last' | 'seq'>): Promise<LogEnds>;
  accept(roomId: RoomId, utterance: AcceptedUtterance): Promise<AcceptResult>;
  /** An acceptance with its number: only what the store has lost is written again so, after `open` has named that number. */
  append(roomId: RoomId, entries: readonly (RoomEntry | NumberedAccept)[]): Promise<AppendResult>;
  /** Entries after this position, at most `limit`. A position before `first - 1` has missed some. */
  read(roomId: RoomId, after: number, limit: number): Promise<ReadResult>;
  /** Replaces all entries of these utterances by `erased`. The caller informs the followers. */
  erase(
    roomId: RoomId,
    said: Said,
  ): Promise<{ readonly utterances: number; readonly followers: readonly string[] }>;
  /** From now on it expires after this time without an append; 0: it is removed now. */
  expire(roomId: RoomId, ttlMs: number): Promise<void>;
}
