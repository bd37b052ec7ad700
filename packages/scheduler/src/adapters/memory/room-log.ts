/** Logs of rooms, in the memory of one process, and who follows them. */

import type { RoomId } from '../../domain/room.ts';
import type { AcceptedUtterance, LoggedEntry, LogLine } from '../../domain/room-log.ts';
import { entryKey, obsoleteAfter, utteranceKey } from '../../domain/room-log.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RoomFollowers } from '../../ports/room-followers.ts';
import type { LogEnds, RoomLog } from '../../ports/room-log.ts';

export interface RoomLogLimits {
  readonly maxEntries: number;
  readonly maxAgeMs: number;
}

interface Line extends LogLine {
  readonly key: string;
}

interface Log {
  lines: Line[];
  readonly standing: Map<string, LoggedEntry>;
  last: number;
  seq: number;
  ttlMs: number;
  expiresAt: number;
}

export interface RoomLogStore {
  readonly log: RoomLog;
  readonly followers: RoomFollowers & { of(roomId: RoomId): readonly string[] };
}

export function createRoomLog(deps: { readonly clock: Pick<Clock, 'now'> } & RoomLogLimits): RoomLogStore {
  const { clock, maxEntries, maxAgeMs } = deps;
  const logs = new Map<RoomId, Log>();
  const followers = new Map<RoomId, Set<string>>();

  function find(roomId: RoomId): Log | undefined {
    const log = logs.get(roomId);
    if (log === undefined || log.expiresAt > clock.now()) return log;
    logs.delete(roomId);
    return undefined;
  }

  const endsOf = ({ lines, last, seq }: Log): LogEnds => ({
    first: lines[0]?.position ?? last + 1,
    last,
    seq,
  });

  const renewed = (roomId: RoomId, log: Log) => {
    log.expiresAt = clock.now() + log.ttlMs;
    return { ...endsOf(log), followers: [...(followers.get(roomId) ?? [])] };
  };

  function add(log: Log, key: string, entry: LoggedEntry): void {
    const at = clock.now();
    log.last += 1;
    log.lines.push({ position: log.last, at, entry, key });
    log.standing.set(key, entry);
    while (log.lines.length > maxEntries || (log.lines[0]?.at ?? at) < at - maxAgeMs) {
      const trimmed = log.lines.shift();
      if (trimmed !== undefined) log.standing.delete(trimmed.key);
    }
  }

  return {
    log: {
      async open(roomId, atLeast) {
        const now = clock.now();
        for (const [id, { expiresAt }] of logs) if (expiresAt <= now) logs.delete(id);
        const log = find(roomId) ?? {
          lines: [],
          standing: new Map(),
          last: 0,
          seq: 0,
          ttlMs: maxAgeMs,
          expiresAt: 0,
        };
        logs.set(roomId, log);
        log.last = Math.max(log.last, atLeast?.last ?? 0);
        log.seq = Math.max(log.seq, atLeast?.seq ?? 0);
        log.ttlMs = maxAgeMs;
        return renewed(roomId, log);
      },
      async accept(roomId, utterance) {
        const log = find(roomId);
        if (log === undefined) return { kind: 'gone' };
        const key = utteranceKey(utterance.utterance);
        let accept = log.standing.get(key);
        if (accept?.kind !== 'accept') {
          accept = { kind: 'accept', seq: log.seq + 1, ...copyOf(utterance) };
          log.seq += 1;
          add(log, key, accept);
        }
        return { kind: 'accepted', accept, ...renewed(roomId, log) };
      },
      async append(roomId, entries) {
        const log = find(roomId);
        if (log === undefined) return { kind: 'gone' };
        const standing = entries.map((entry) => {
          const key = entryKey(entry);
          const obsolete = obsoleteAfter(entry);
          const other = log.standing.get(key);
          if (other !== undefined) return other;
          if (obsolete !== undefined && log.standing.has(obsolete)) return undefined;
          const added = copyOf(entry);
          add(log, key, added);
          return added;
        });
        return { kind: 'appended', standing, ...renewed(roomId, log) };
      },
      async read(roomId, after, limit) {
        const log = find(roomId);
        if (log === undefined) return { kind: 'gone' };
        const lines = log.lines
          .filter(({ position }) => position > after)
          .slice(0, limit)
          .map(({ key: _key, ...line }) => line);
        return { kind: 'read', lines, ...endsOf(log) };
      },
      async erase(roomId, speaker) {
        const log = find(roomId);
        if (log === undefined) return 0;
        const seqs = new Set(
          log.lines.flatMap(({ entry }) =>
            entry.kind === 'accept' && entry.speaker === speaker ? [entry.seq] : [],
          ),
        );
        log.lines = log.lines.map((line) => {
          const { seq } = line.entry;
          if (!seqs.has(seq)) return line;
          return { ...line, entry: { kind: 'erased', seq } };
        });
        for (const [key, { seq }] of log.standing)
          if (seqs.has(seq)) log.standing.set(key, { kind: 'erased', seq });
        return seqs.size;
      },
      async expire(roomId, ttlMs) {
        const log = find(roomId);
        if (log === undefined) return;
        log.ttlMs = ttlMs;
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

const copyOf = <T extends AcceptedUtterance | LoggedEntry>(given: T): T => structuredClone(given);
