/** Typed wrapper of append-entries.lua: an accepted utterance gets its number, other entries name theirs. Hot path. */
import type { RoomId } from '../../../domain/room.ts';
import type { AcceptedUtterance, LoggedEntry, NumberedAccept, RoomEntry } from '../../../domain/room-log.ts';
import { entryKey, obsoleteAfter, utteranceKey } from '../../../domain/room-log.ts';
import type { AcceptResult, AppendResult, RoomLog, RoomLogLimits } from '../../../ports/room-log.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript, type Reply } from '../connection/script.ts';
import { FOLLOWERS_MEMORY_MS, type Keys } from '../keys.ts';
import type { SealedPayload } from '../sealed-payload.ts';
import { entryOf, lineBreakFree } from './log-line.ts';

interface Draft {
  readonly seq: number | '';
  readonly key: string;
  readonly obsolete: string | undefined;
  readonly speaker: string;
  readonly entry: object;
}

type Standing = { readonly own: number } | { readonly other: LoggedEntry } | undefined;

export function createAppendEntries(
  deps: { connection: RedisConnection; keys: Keys; payload: SealedPayload },
  limits: RoomLogLimits,
): Pick<RoomLog, 'accept' | 'append'> {
  const { connection, keys, payload } = deps;
  const run = loadScript(connection, import.meta.url, 'append-entries');

  const argumentsOf = ({ seq, key, obsolete, speaker, entry }: Draft): (string | number)[] => [
    seq,
    lineBreakFree(key),
    obsolete === undefined ? '' : lineBreakFree(obsolete),
    speaker,
    payload.seal(JSON.stringify(entry)),
  ];

  function standingIn(reply: Reply, at: number): Standing {
    const [word, seq, body] = reply.slice(4 + 3 * at);
    if (word === 'none') return undefined;
    if (word === 'own') return { own: Number(seq) };
    return { other: entryOf(payload, Number(seq), String(body)) };
  }

  async function append(roomId: RoomId, drafts: readonly Draft[]) {
    const reply = await run(
      [keys.roomLog(roomId), keys.roomFollowers(roomId)],
      [limits.maxEntries, limits.maxAgeMs, FOLLOWERS_MEMORY_MS, ...drafts.flatMap(argumentsOf)],
    );
    const [word, first, last, seq] = reply;
    if (word === 'gone') return undefined;
    return {
      first: Number(first),
      last: Number(last),
      seq: Number(seq),
      standing: drafts.map((_, at) => standingIn(reply, at)),
      followers: reply.slice(4 + 3 * drafts.length).map(String),
    };
  }

  return {
    async accept(roomId: RoomId, utterance: AcceptedUtterance): Promise<AcceptResult> {
      const key = utteranceKey(utterance.utterance);
      const speaker = lineBreakFree(utterance.speaker);
      const entry = { kind: 'accept', ...utterance } as const;
      const appended = await append(roomId, [{ seq: '', key, obsolete: undefined, speaker, entry }]);
      if (appended === undefined) return { kind: 'gone' };
      const { standing, ...rest } = appended;
      const [stands] = standing;
      const accept =
        stands !== undefined && 'other' in stands ? stands.other : { ...entry, seq: stands?.own ?? 0 };
      if (accept.kind !== 'accept') throw new Error(`${key} names an entry of kind ${accept.kind}`);
      return { kind: 'accepted', ...rest, accept };
    },
    async append(roomId: RoomId, entries: readonly (RoomEntry | NumberedAccept)[]): Promise<AppendResult> {
      const drafts = entries.map((entry) => ({
        seq: entry.seq,
        key: entryKey(entry),
        obsolete: obsoleteAfter(entry),
        speaker: entry.kind === 'accept' ? lineBreakFree(entry.speaker) : '',
        entry,
      }));
      const appended = await append(roomId, drafts);
      if (appended === undefined) return { kind: 'gone' };
      const standing = appended.standing.map((stands, at) =>
        stands !== undefined && 'other' in stands ? stands.other : stands && entries[at],
      );
      return { kind: 'appended', ...appended, standing };
    },
  };
}
