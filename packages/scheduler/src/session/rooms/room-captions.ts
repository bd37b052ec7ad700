/** Cold path: captions for readers without a session, transcripts, and the erasure of what a member said. */
import type { TenantId } from '../../domain/ids.ts';
import type { RoomId, RoomRecord, RoomRefusal } from '../../domain/room.ts';
import type { Reader } from './local-members.ts';
import type { RoomDeps } from './room-deps.ts';
import { createRoomRouter, feed, track, transcribed } from './room-router.ts';
import type { RoomService } from './room-service.ts';
import { NOT_FOUND, setAudience } from './room-steps.ts';
import type { RoomTable } from './room-table.ts';
import type { RoomWriter } from './room-writer.ts';

const PAGE = 500;

export function createRoomCaptions(
  deps: RoomDeps & {
    readonly writer: RoomWriter;
    readonly table: RoomTable;
    readonly load: (tenantId: TenantId, roomId: RoomId) => Promise<RoomRecord | undefined>;
    readonly guarded: <T>(call: () => Promise<T | RoomRefusal>) => Promise<T | RoomRefusal>;
  },
): Pick<RoomService, 'captions' | 'transcript' | 'eraseMember'> {
  const { stores, table, writer, load, guarded } = deps;

  return {
    captions: ({ tenantId, roomId, language, afterSeq }, listen) =>
      guarded(async () => {
        if ((await load(tenantId, roomId)) === undefined) return NOT_FOUND;
        const followed = await table.follow(roomId);
        if (followed === undefined) return NOT_FOUND;
        const { captions, missed } = await followed.history(language, afterSeq);
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
        const room = await load(tenantId, roomId);
        if (room === undefined) return NOT_FOUND;
        const utterances = await stores.log.erase(roomId, memberId);
        const followers = room.members.map(({ follower }) => follower);
        const readers = Object.keys(room.audiences);
        writer.inform(roomId, [...new Set([...followers, ...readers, deps.self()])], { isErased: true });
        return { kind: 'done', utterances };
      }),
  };
}
