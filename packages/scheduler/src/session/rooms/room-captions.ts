/** Cold path: captions for readers without a session, transcripts, and the erasure of what a member said. */
import type { TenantId } from '../../domain/ids.ts';
import type { RoomId, RoomRecord, RoomRefusal } from '../../domain/room.ts';
import type { Said } from '../../domain/room-log.ts';
import type { Reader } from './local-members.ts';
import type { RoomDeps } from './room-deps.ts';
import { AFTER_ALL } from './room-history.ts';
import { createRoomRouter, feed, track, transcribed } from './room-router.ts';
import type { RoomService } from './room-service.ts';
import { KEEPS_NO_TEXTS, NOT_FOUND, refusal, setAudience } from './room-steps.ts';
import type { RoomTable } from './room-table.ts';
import type { RoomWriter } from './room-writer.ts';

const PAGE = 500;
const ERASED_AT_ONCE = 50;

export function createRoomCaptions(
  deps: RoomDeps & {
    readonly writer: RoomWriter;
    readonly table: RoomTable;
    readonly load: (tenantId: TenantId, roomId: RoomId) => Promise<RoomRecord | undefined>;
    readonly guarded: <T>(call: () => Promise<T | RoomRefusal>) => Promise<T | RoomRefusal>;
  },
): Pick<RoomService, 'captions' | 'transcript' | 'eraseMember' | 'eraseSaid'> {
  const { stores, table, writer, load, guarded } = deps;
  const { keepsNoTexts = false } = deps.settings.limits;

  async function erase(roomId: RoomId, said: Said): Promise<number> {
    const { utterances, followers } = await stores.log.erase(roomId, said);
    if (utterances > 0) writer.inform(roomId, followers, { isErased: true });
    return utterances;
  }

  return {
    captions: ({ tenantId, roomId, language, afterSeq }, listen) =>
      guarded(async () => {
        if ((await load(tenantId, roomId)) === undefined) return NOT_FOUND;
        const followed = await table.follow(roomId);
        if (followed === undefined) return NOT_FOUND;
        const release = followed.local.hold();
        const history = await followed
          .history(language, keepsNoTexts ? AFTER_ALL : afterSeq)
          .finally(release);
        const { captions, missed } = history();
        const reader: Reader = { language, listen };
        followed.local.readers.add(reader);
        // After this resolved.
        setImmediate(() => {
          if (missed !== undefined) listen({ kind: 'missed', ...missed });
          for (const caption of captions) listen({ kind: 'caption', caption });
        });
        // The first reader of a language makes it heard at once; the rest is counted once a second.
        await writer.change(roomId, setAudience(deps.self(), followed.local.audience()));
        return { kind: 'done', stop: () => void followed.local.readers.delete(reader) };
      }),
    transcript: ({ tenantId, roomId, language, afterSeq, limit }) =>
      guarded(async () => {
        if (keepsNoTexts) return refusal('FORBIDDEN', `there are no transcripts: ${KEEPS_NO_TEXTS}`);
        const room = await load(tenantId, roomId);
        if (room === undefined || (room.endedAt !== undefined && !room.isRecorded)) return NOT_FOUND;
        const router = createRoomRouter(Number.POSITIVE_INFINITY);
        track(router, [language], 0);
        for (let after = 0; ; ) {
          const read = await stores.log.read(roomId, after, PAGE);
          if (read.kind === 'gone' || read.lines.length === 0) break;
          for (const line of read.lines) feed(router, line, 0);
          after = read.lines.at(-1)?.position ?? after;
        }
        const captions = [...router.utterances.values()]
          .filter(({ seq }) => seq > afterSeq)
          .sort((one, other) => one.seq - other.seq)
          .flatMap((utterance) => transcribed(utterance, language) ?? []);
        const page = captions.slice(0, limit);
        return {
          kind: 'done',
          captions: page,
          firstSeq: router.firstSeq,
          ...(captions.length > limit && { nextSeq: page.at(-1)?.seq }),
        };
      }),
    eraseMember: (tenantId, roomId, memberId) =>
      guarded(async () => {
        if ((await load(tenantId, roomId)) === undefined) return NOT_FOUND;
        return { kind: 'done', utterances: await erase(roomId, { speaker: memberId }) };
      }),
    eraseSaid: (tenantId, said) =>
      guarded(async () => {
        const open = (await stores.records.list(tenantId)).map(({ roomId }) => roomId);
        const rooms = [...new Set([...open, ...(await stores.records.ended(tenantId))])];
        let utterances = 0;
        for (let at = 0; at < rooms.length; at += ERASED_AT_ONCE) {
          const batch = rooms.slice(at, at + ERASED_AT_ONCE);
          const counts = await Promise.all(batch.map((roomId) => erase(roomId, said)));
          utterances += counts.reduce((sum, count) => sum + count, 0);
        }
        return { kind: 'done', utterances };
      }),
  };
}
