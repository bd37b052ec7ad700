/** Cold path: the captions that a member or a reader gets when it enters a room. */
import type { Language } from '../../domain/language.ts';
import type { RoomId } from '../../domain/room.ts';
import type { RoomLog } from '../../ports/room-log.ts';
import { captionsSoFar, createRoomRouter, feed, type RoomRouter, track } from './room-router.ts';
import type { Caption } from './room-service.ts';

export interface History {
  readonly captions: readonly Caption[];
  readonly missed: { readonly from: number; readonly to: number } | undefined;
}

const PAGE = 500;
/** Captions of a member that joins. */
const MAX_HISTORY = 50;
/** For a history without what was said by now. */
export const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** All that the log has up to this position, with room for the oldest. */
export async function foldLog(log: RoomLog, roomId: RoomId, upTo: number): Promise<RoomRouter> {
  const folded = createRoomRouter(Number.POSITIVE_INFINITY);
  for (let after = 0; after < upTo; ) {
    const read = await log.read(roomId, after, PAGE);
    if (read.kind === 'gone' || read.lines.length === 0) break;
    for (const line of read.lines) {
      after = line.position;
      if (after <= upTo) feed(folded, line, 0);
    }
  }
  return folded;
}

/** `router`: of the live captions, with an order of the language. What it has forgotten is read. */
export async function readHistory(
  {
    log,
    roomId,
    router,
    upTo,
  }: {
    readonly log: RoomLog;
    readonly roomId: RoomId;
    readonly router: RoomRouter;
    readonly upTo: number;
  },
  language: Language,
  afterSeq: number | undefined,
): Promise<() => History> {
  let older: readonly Caption[] = [];
  let { firstSeq } = router;
  if (afterSeq !== undefined && afterSeq + 1 < firstSeq) {
    const folded = await foldLog(log, roomId, upTo);
    track(folded, [language], 0);
    firstSeq = folded.firstSeq;
    older = captionsSoFar(folded, language, afterSeq);
  }
  const missed =
    afterSeq !== undefined && afterSeq + 1 < firstSeq ? { from: afterSeq + 1, to: firstSeq - 1 } : undefined;
  return () => {
    const newer = captionsSoFar(router, language, afterSeq ?? 0);
    const captions = [...older.filter(({ seq }) => seq < router.firstSeq), ...newer];
    return { captions: afterSeq === undefined ? captions.slice(-MAX_HISTORY) : captions, missed };
  };
}
