/** Typed wrapper of publish-record.lua. Cold path. */
import type { NodeRecord, Stale } from '../../../ports/node-records.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript, type Reply } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { recordText } from './record-text.ts';

/** How long a node record is kept after the last message of its node. */
export const RECORD_TTL_MS = 3_600_000;

/** The presence of a node contains its region as one short word. */
const MAX_REGION_CHARS = 64;

export function createPublishRecord(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'publish-record');
  return async (
    record: NodeRecord,
    ttlMs: number,
  ): Promise<{ readonly kind: 'first' | 'posted' | 'already' } | Stale> => {
    const { nodeId, generation, version, view, holder } = record;
    const region = (record.region ?? '').replaceAll(/[\s;]/g, '_').slice(0, MAX_REGION_CHARS);
    const reply = await run(
      [keys.nodeCapabilities(nodeId), keys.nodePresence(nodeId), keys.nodeOwner(nodeId)],
      [
        generation,
        version,
        region,
        recordText(record),
        RECORD_TTL_MS,
        ttlMs,
        view.lastBeatAt,
        holder.instanceId,
      ],
    );
    if (reply[0] === 'stale') return staleOf(reply);
    return { kind: reply[0] as 'first' | 'posted' | 'already' };
  };
}

/** The reply of a script that found a later record. */
export const staleOf = ([, generation, version]: Reply): Stale => ({
  kind: 'stale',
  generation: Number(generation),
  version: Number(version),
});
