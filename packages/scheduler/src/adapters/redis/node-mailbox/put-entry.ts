/** Typed wrapper of put-entry.lua. */
import type { JobId, NodeId } from '../../../domain/ids.ts';
import type { Slot } from '../../../ports/node-mailbox.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export interface PutEntry {
  readonly jobId: JobId;
  readonly body: string;
  readonly ttlMs: number;
  /** The position of an entry that is put back. Absent: a new entry, which comes last. */
  readonly turn?: string;
  readonly slot?: Slot | undefined;
}

export function createPutEntry(connection: RedisConnection, keys: Keys, maxPerNode: number) {
  const run = loadScript(connection, import.meta.url, 'put-entry');
  return async (nodeId: NodeId, entry: PutEntry): Promise<'queued' | 'full'> => {
    const [word] = await run(
      [keys.nodeMailbox(nodeId), keys.nodeMailboxBodies(nodeId), keys.nodeArrivals(nodeId)],
      [entry.jobId, entry.body, entry.ttlMs, maxPerNode, entry.turn ?? '', spell(entry.slot)],
    );
    return word === 'full' ? 'full' : 'queued';
  };
}

const spell = (slot: Slot | undefined): string =>
  slot === undefined ? '' : `${Math.ceil(slot.ttlMs)} ${slot.lease}`;
