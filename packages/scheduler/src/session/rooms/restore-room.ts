/**
 * Cold path: after a failover of the store, writes again what it may have lost of a room that this instance follows, before this instance
 * writes anything else there.
 */
import type { RoomId, RoomRecord } from '../../domain/room.ts';
import type { LogLine } from '../../domain/room-log.ts';
import type { LogEnds } from '../../ports/room-log.ts';
import type { RoomDeps } from './room-deps.ts';
import { entriesOf, erasedIn, type RoomRouter } from './room-router.ts';
import type { RoomWriter } from './room-writer.ts';

export interface RoomRestorer {
  /** The store may have lost writes. */
  doubt(): void;
  /** Undefined: there is no doubt. Rejects if the store does not answer; then the next call tries again. */
  restored(): Promise<void> | undefined;
}

/**
 * Versions, positions and numbers that are left out: this instance may not have read the last ones that the store lost, and none is given
 * out twice.
 */
const LEFT_OUT = 1_000;

export function createRoomRestorer(
  deps: Pick<RoomDeps, 'stores' | 'settings' | 'self'> & {
    readonly writer: RoomWriter;
    readonly roomId: RoomId;
    /** What this instance has read. `newest`: the last line that it took. */
    readonly known: () => {
      readonly room: RoomRecord;
      readonly ends: Pick<LogEnds, 'last' | 'seq'>;
      readonly newest: LogLine | undefined;
      readonly router: RoomRouter;
    };
    /** What the store has now. `isLost`: other lines may lie where this instance has read. */
    readonly restored: (room: RoomRecord, ends: LogEnds, isLost: boolean) => void;
    readonly ended: () => void;
  },
): RoomRestorer {
  const { roomId, settings, stores, writer, known } = deps;
  const { idleMs, maxPerTenant } = settings.limits;
  let isInDoubt = false;
  let restoring: Promise<void> | undefined;

  async function restore(): Promise<void> {
    await stores.followers.add(roomId, deps.self());
    const stored = await stores.records.load(roomId);
    if (stored?.endedAt !== undefined) return deps.ended();
    const standing = isCurrent(stored) ? stored : await restoreRecord();
    await stores.records.bind(standing, 2 * idleMs, maxPerTenant);
    const { ends, newest } = known();
    const isLost = newest !== undefined && !(await hasLine(newest));
    const opened = await stores.log.open(roomId, { last: ends.last + LEFT_OUT, seq: ends.seq + LEFT_OUT });
    await rewriteLog(isLost);
    deps.restored(standing, opened, isLost);
  }

  /** A store loses the end of a log: if it has the newest line that was read here, it has all of them. */
  async function hasLine({ position, at, entry }: LogLine): Promise<boolean> {
    const read = await stores.log.read(roomId, position - 1, 1);
    const line = read.kind === 'gone' ? undefined : read.lines[0];
    return line?.position === position && line.at === at && line.entry.seq === entry.seq;
  }

  /** Of entries with the same key the first one stands, so several instances may write what they know. */
  async function rewriteLog(isLost: boolean): Promise<void> {
    const { router } = known();
    await writer.rewrite(roomId, [...(isLost ? entriesOf(router) : []), ...writer.unread(roomId)]);
    if (isLost) for (const said of erasedIn(router)) await stores.log.erase(roomId, said);
  }

  /** Of the same version but another change, the store has lost this one and another instance has made its own. */
  function isCurrent(stored: RoomRecord | undefined): stored is RoomRecord {
    if (stored === undefined) return false;
    const { version, changeId } = known().room;
    return stored.version > version || (stored.version === version && stored.changeId === changeId);
  }

  function restoreRecord(): Promise<RoomRecord> {
    const { room } = known();
    return writer.restore({ ...room, version: room.version + LEFT_OUT });
  }

  return {
    doubt() {
      isInDoubt = true;
    },
    restored() {
      if (restoring !== undefined || !isInDoubt) return restoring;
      isInDoubt = false;
      restoring = restore()
        .catch((fault: unknown) => {
          isInDoubt = true;
          throw fault;
        })
        .finally(() => {
          restoring = undefined;
        });
      return restoring;
    },
  };
}
