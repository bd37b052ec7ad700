/** Typed wrapper of take-entries.lua. */
import type { JobId, NodeId } from '../../../domain/ids.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export interface TakenEntry {
  readonly jobId: JobId;
  /** Its position in the queue, in case it is put back. */
  readonly turn: string;
  readonly body: string;
}

export function createTakeEntries(connection: RedisConnection, keys: Keys, idleMs: number) {
  const run = loadScript(connection, import.meta.url, 'take-entries');
  return async (nodeId: NodeId, max: number): Promise<readonly TakenEntry[]> => {
    const [, ...taken] = await run(
      [
        keys.nodeMailbox(nodeId),
        keys.nodeMailboxBodies(nodeId),
        keys.nodeLeases(nodeId),
        keys.nodeLeaseMarks(nodeId),
      ],
      [max, idleMs],
    );
    const entries: TakenEntry[] = [];
    for (let at = 0; at + 2 < taken.length; at += 3) {
      const [jobId, turn, body] = taken.slice(at, at + 3).map(String) as [string, string, string];
      entries.push({ jobId, turn, body });
    }
    return entries;
  };
}
