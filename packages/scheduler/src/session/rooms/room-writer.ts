/**
 * Hot path: writes the record and the log of rooms, and informs the followers of what was written: each gets one message per tick and room.
 * While the store is away, appends wait in their order.
 */

import type { RoomId, RoomRecord, RoomRefusal } from '../../domain/room.ts';
import type { LoggedEntry, NumberedAccept, RoomEntry } from '../../domain/room-log.ts';
import { sleep } from '../../domain/with-timeout.ts';
import type { AcceptResult } from '../../ports/room-log.ts';
import type { RoomDeps, RoomMessage } from './room-deps.ts';
import { isRefusal, NOT_FOUND, type RoomStep, refusal } from './room-steps.ts';

export type Changed = { readonly kind: 'done'; readonly room: RoomRecord } | RoomRefusal;

export interface RoomWriter {
  /** Reads, steps and saves until no other change came between. */
  change(roomId: RoomId, step: RoomStep): Promise<Changed>;
  create(room: RoomRecord): Promise<void>;
  accept(...given: Parameters<RoomDeps['stores']['log']['accept']>): Promise<AcceptResult>;
  /** The entry that stands; undefined: it is pointless by now. `gone`: the room has ended, or the store was away for too long. */
  append(roomId: RoomId, entry: RoomEntry): Promise<LoggedEntry | undefined | 'gone'>;
  /** After a failover: over each lower version. Returns what the store has then; changes do not wait for it. */
  restore(room: RoomRecord): Promise<RoomRecord>;
  inform(roomId: RoomId, followers: readonly string[], what: Told): void;
  /** Entries of this instance that stand in the log, and that it has not read there yet. */
  unread(roomId: RoomId): readonly Unread[];
  /** This instance has read the log up to there; Infinity: it does not follow the room any more. */
  noteRead(roomId: RoomId, position: number): void;
  /** After a failover: entries that the store may have lost. */
  rewrite(roomId: RoomId, entries: readonly (RoomEntry | NumberedAccept)[]): Promise<void>;
  /** Drops appends that wait for the store. */
  stop(): void;
}

type Unread = RoomEntry | NumberedAccept;

type Told = Partial<Omit<Extract<RoomMessage, { kind: 'advanced' }>, 'kind' | 'roomId'>>;

interface Waiting {
  readonly entry: RoomEntry;
  readonly until: number;
  readonly settle: (standing: LoggedEntry | undefined | 'gone') => void;
}

const MAX_TRIES = 40;
const RETRY_MS = 250;
/** An append is given up after this long: by then the deadline of its utterance has passed. */
const PATIENCE_MS = 60_000;
const MAX_BATCH = 64;
const MOST_UNREAD = 1_024;
/** For most of a minute: a follower that is not informed shows nothing until the next entry. */
const TELL_TRIES = 20;

export function createRoomWriter(
  deps: RoomDeps & {
    /** This instance follows the room, too. */
    readonly advanced: (message: Extract<RoomMessage, { kind: 'advanced' }>) => void;
    /** Resolves when the room, which the store may have lost, is written again; rejects if the store does not answer. */
    readonly restored: (roomId: RoomId) => Promise<void> | undefined;
  },
): RoomWriter {
  const { clock, log, settings, stores } = deps;
  const { idleMs } = settings.limits;
  const untold = new Map<
    RoomId,
    { followers: Set<string>; message: Extract<RoomMessage, { kind: 'advanced' }> }
  >();
  const queues = new Map<RoomId, Waiting[]>();
  /** In the order of appending. `upTo`: they lie at this position, or before it. */
  const unread = new Map<RoomId, { readonly entry: Unread; readonly upTo: number }[]>();
  let isStopped = false;

  function inform(roomId: RoomId, followers: readonly string[], told: Told): void {
    if (untold.size === 0) queueMicrotask(tellAll);
    const { followers: all = new Set<string>(), message } = untold.get(roomId) ?? {};
    for (const follower of followers) all.add(follower);
    untold.set(roomId, {
      followers: all,
      message: {
        kind: 'advanced',
        roomId,
        last: Math.max(message?.last ?? 0, told.last ?? 0),
        version: Math.max(message?.version ?? 0, told.version ?? 0),
        ...((message?.isErased || told.isErased) && { isErased: true }),
      },
    });
  }

  function tellAll(): void {
    const all = [...untold.values()];
    untold.clear();
    for (const { followers, message } of all)
      for (const follower of followers)
        if (follower === deps.self()) deps.advanced(message);
        else void tell(follower, message);
  }

  async function tell(follower: string, message: RoomMessage): Promise<void> {
    for (let tries = 1; !isStopped; tries += 1) {
      try {
        await deps.tell(follower, message);
        return;
      } catch (fault) {
        if (tries < TELL_TRIES) await sleep(clock, RETRY_MS * tries);
        else
          return log.warn({ follower, room_id: message.roomId, err: fault }, 'could not inform a follower');
      }
    }
  }

  const ttlOf = ({ endedAt, isRecorded }: RoomRecord): number =>
    endedAt === undefined ? 2 * idleMs : isRecorded ? settings.retentionMs : RETRY_MS * MAX_TRIES;

  async function change(roomId: RoomId, step: RoomStep): Promise<Changed> {
    await deps.restored(roomId);
    let room = await stores.records.load(roomId);
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      if (room === undefined) return NOT_FOUND;
      const stepped = step(room);
      if (isRefusal(stepped)) return stepped;
      if (stepped === undefined) return { kind: 'done', room };
      const next = { ...stepped, version: room.version + 1, changeId: deps.ids.traceId() };
      const saved = await stores.records.save(next, ttlOf(next));
      if (saved.kind === 'saved') {
        inform(roomId, saved.followers, { version: next.version });
        return { kind: 'done', room: next };
      }
      room = saved.record;
    }
    return refusal('RATE_LIMITED', 'too many members change the room at once; try again');
  }

  async function flush(roomId: RoomId, queue: Waiting[]): Promise<void> {
    while (queue.length > 0 && !isStopped) {
      const batch = queue.slice(0, MAX_BATCH);
      try {
        await deps.restored(roomId);
        const result = await stores.log.append(
          roomId,
          batch.map(({ entry }) => entry),
        );
        queue.splice(0, batch.length);
        if (result.kind === 'appended') {
          noteUnread(
            roomId,
            batch.map(({ entry }) => entry),
            result.last,
          );
          inform(roomId, result.followers, { last: result.last });
        }
        for (const [at, { settle }] of batch.entries())
          settle(result.kind === 'gone' ? 'gone' : result.standing[at]);
      } catch (fault) {
        log.warn({ room_id: roomId, err: fault }, 'could not append to the log of a room; trying again');
        const now = clock.now();
        for (const waiting of queue.filter(({ until }) => until <= now)) waiting.settle('gone');
        queue.splice(0, queue.length, ...queue.filter(({ until }) => until > now));
        await sleep(clock, RETRY_MS);
      }
    }
    queues.delete(roomId);
    for (const { settle } of queue.splice(0)) settle('gone');
  }

  function noteUnread(roomId: RoomId, entries: readonly Unread[], upTo: number): void {
    const all = unread.get(roomId) ?? [];
    unread.set(roomId, all);
    for (const entry of entries) all.push({ entry, upTo });
    // I11: an instance that cannot read for so long has lost nothing that its followers have.
    all.splice(0, Math.max(0, all.length - MOST_UNREAD));
  }

  return {
    change,
    inform,
    unread: (roomId) => (unread.get(roomId) ?? []).map(({ entry }) => entry),
    noteRead(roomId, position) {
      const left = unread.get(roomId)?.filter(({ upTo }) => upTo > position) ?? [];
      if (left.length === 0) unread.delete(roomId);
      else unread.set(roomId, left);
    },
    async rewrite(roomId, entries) {
      for (let at = 0; at < entries.length; at += MAX_BATCH) {
        const result = await stores.log.append(roomId, entries.slice(at, at + MAX_BATCH));
        if (result.kind === 'appended') inform(roomId, result.followers, { last: result.last });
      }
    },
    async create(room) {
      const first = { ...room, version: 1, changeId: deps.ids.traceId() };
      await stores.log.open(room.roomId);
      await stores.records.save(first, ttlOf(first));
    },
    async restore(room) {
      const saved = await stores.records.restore(room, ttlOf(room));
      if (saved.kind === 'stale') return saved.record ?? room;
      inform(room.roomId, saved.followers, { version: room.version });
      return room;
    },
    async accept(roomId, utterance) {
      await deps.restored(roomId);
      const result = await stores.log.accept(roomId, utterance);
      if (result.kind === 'accepted') {
        noteUnread(roomId, [result.accept], result.last);
        inform(roomId, result.followers, { last: result.last });
      }
      return result;
    },
    append(roomId, entry) {
      return new Promise((settle) => {
        const waiting = { entry, until: clock.now() + PATIENCE_MS, settle };
        const queue = queues.get(roomId);
        if (queue !== undefined) {
          queue.push(waiting);
          return;
        }
        const started = [waiting];
        queues.set(roomId, started);
        // What is appended in the same tick leaves together.
        queueMicrotask(() => void flush(roomId, started));
      });
    },
    stop() {
      isStopped = true;
    },
  };
}
