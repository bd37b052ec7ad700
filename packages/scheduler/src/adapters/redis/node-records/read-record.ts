/** Typed wrapper of read-record.lua. Cold path. */
import type { NodeId } from '../../../domain/ids.ts';
import type { RecordStatus, RecordVersion } from '../../../ports/node-records.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript, type Reply } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { createRecordReader } from './record-text.ts';

export function createReadRecord(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'read-record');
  const readRecord = createRecordReader();

  function statusOf(nodeId: NodeId, [word, ...rest]: Reply): RecordStatus {
    const generation = Number(rest[0]);
    if (word === 'expired' || word === 'withdrawn') return { kind: word, generation };
    if (word !== 'present') return { kind: 'absent' };
    const [version, seenAt, presentForMs] = [Number(rest[1]), Number(rest[2]), Number(rest[3])];
    const body = rest[4] ?? undefined;
    const record = body === undefined ? undefined : readRecord({ nodeId, generation, version }, String(body));
    // Written by another program: counts as absent.
    if (record === undefined && body !== undefined) return { kind: 'absent' };
    return { kind: 'present', generation, version, record, seenAt, presentForMs };
  }

  /** Never rejects: if a shard does not answer, only its nodes are unknown. */
  return async ({
    nodeId,
    generation,
    version,
  }: Pick<RecordVersion, 'nodeId'> & Partial<RecordVersion>): Promise<RecordStatus> => {
    try {
      const reply = await run(
        [keys.nodeCapabilities(nodeId), keys.nodePresence(nodeId)],
        [generation ?? '', version ?? ''],
      );
      return statusOf(nodeId, reply);
    } catch {
      return { kind: 'unknown' };
    }
  };
}
