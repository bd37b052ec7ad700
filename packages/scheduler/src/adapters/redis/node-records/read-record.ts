/** Typed wrapper of read-record.lua. Cold path. */
import type { NodeId } from '../../../domain/ids.ts';
import type { SheetVersion, Standing } from '../../../ports/node-records.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript, type Reply } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { createSheetReader } from './record-text.ts';

export function createReadSheet(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'read-record');
  const readSheet = createSheetReader();

  function standingOf(nodeId: NodeId, [word, ...rest]: Reply): Standing {
    const generation = Number(rest[0]);
    if (word === 'expired' || word === 'withdrawn') return { kind: word, generation };
    if (word !== 'present') return { kind: 'absent' };
    const [version, seenAt, presentForMs] = [Number(rest[1]), Number(rest[2]), Number(rest[3])];
    const body = rest[4] ?? undefined;
    const sheet = body === undefined ? undefined : readSheet({ nodeId, generation, version }, String(body));
    // Written by a program that is not ours: as good as nothing.
    if (sheet === undefined && body !== undefined) return { kind: 'absent' };
    return { kind: 'present', generation, version, sheet, seenAt, presentForMs };
  }

  /** Never rejects: a shard that does not answer leaves unknown only what lives on it. */
  return async ({
    nodeId,
    generation,
    version,
  }: Pick<SheetVersion, 'nodeId'> & Partial<SheetVersion>): Promise<Standing> => {
    try {
      const reply = await run(
        [keys.nodeCapabilities(nodeId), keys.nodePresence(nodeId)],
        [generation ?? '', version ?? ''],
      );
      return standingOf(nodeId, reply);
    } catch {
      return { kind: 'unknown' };
    }
  };
}
