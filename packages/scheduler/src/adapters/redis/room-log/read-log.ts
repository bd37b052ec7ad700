/** Typed wrapper of read-log.lua. Hot path: once per instance and advance of a room. */
import type { RoomId } from '../../../domain/room.ts';
import type { LogLine } from '../../../domain/room-log.ts';
import type { ReadResult } from '../../../ports/room-log.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import type { SealedPayload } from '../sealed-payload.ts';
import { entryOf } from './log-line.ts';

export function createReadLog(connection: RedisConnection, keys: Keys, payload: SealedPayload) {
  const run = loadScript(connection, import.meta.url, 'read-log');
  return async (roomId: RoomId, after: number, limit: number): Promise<ReadResult> => {
    const [word, first, last, seq, ...rest] = await run([keys.roomLog(roomId)], [after, limit]);
    if (word === 'gone') return { kind: 'gone' };
    const lines: LogLine[] = [];
    for (let at = 0; at + 3 < rest.length; at += 4) {
      const [position, when, number, body] = rest.slice(at, at + 4);
      const entry = entryOf(payload, Number(number), String(body));
      lines.push({ position: Number(position), at: Number(when), entry });
    }
    return { kind: 'read', first: Number(first), last: Number(last), seq: Number(seq), lines };
  };
}
