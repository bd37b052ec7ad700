/**
 * The board of many instances. A node's node record and its presence lie in the node's own slot, each written by one script; a few
 * sorted sets list the ids, since no command may look at all keys.
 *
 * A heartbeat costs one write: lists are kept by `enlist`, for many ids at once, and change notices go out only on a change.
 */
import { type NodeRecords, type RecordVersion, WITHDRAWN_VERSION } from '../../ports/node-records.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import type { Keys } from './keys.ts';
import { createEnlistNodes } from './node-records/enlist-nodes.ts';
import { createPageNodes } from './node-records/page-nodes.ts';
import { createPublishRecord } from './node-records/publish-record.ts';
import { createReadRecord } from './node-records/read-record.ts';
import { createRecordNotices } from './node-records/record-notices.ts';
import { createRenewNode } from './node-records/renew-node.ts';
import { createWithdrawRecord } from './node-records/withdraw-record.ts';

export function createNodeRecords(deps: {
  connection: RedisConnection;
  /** Only listens. */
  ear: RedisConnection;
  keys: Keys;
  /** Ids that nobody enlisted for this long are no longer listed. */
  forgetAfterMs: number;
  onFault?: (fault: unknown) => void;
}): NodeRecords {
  const { connection, keys } = deps;
  const publishRecord = createPublishRecord(connection, keys);
  const renewNode = createRenewNode(connection, keys);
  const withdrawRecord = createWithdrawRecord(connection, keys);
  const readRecord = createReadRecord(connection, keys);
  const enlist = createEnlistNodes(connection, keys);
  const page = createPageNodes(connection, keys, deps.forgetAfterMs);
  const listeners = new Set<(notices: readonly RecordVersion[]) => void>();
  const notices = createRecordNotices({ ...deps, onNotices: tell });

  function tell(heard: readonly RecordVersion[]): void {
    for (const listen of listeners) {
      try {
        listen(heard);
      } catch (fault) {
        deps.onFault?.(fault);
      }
    }
  }

  return {
    async post(record, ttlMs) {
      const result = await publishRecord(record, ttlMs);
      if (result.kind === 'stale') return result;
      notices.send(record);
      if (result.kind === 'posted') return { kind: 'posted' };
      // Also at a repeat: the post before may have got no further than its node record.
      await enlist([record.nodeId]);
      return { kind: result.kind === 'first' ? 'posted' : 'already' };
    },

    async seen(record, ttlMs, at) {
      const result = await renewNode(record, ttlMs, at);
      if (result.kind === 'stale') return result;
      if (result.kind === 'returned') notices.send(record);
      return { kind: result.kind === 'missing' ? 'missing' : 'seen' };
    },

    async withdraw(nodeId, generation) {
      const result = await withdrawRecord(nodeId, generation);
      if (result.kind === 'withdrawn') notices.send({ nodeId, generation, version: WITHDRAWN_VERSION });
      return result;
    },

    enlist,

    async read(asked) {
      const standings = await Promise.all(asked.map(readRecord));
      return new Map(asked.map(({ nodeId }, at) => [nodeId, standings[at] ?? { kind: 'unknown' }]));
    },

    page,

    async subscribe(listen) {
      // A wrapper, so that one function may subscribe twice and each end only its own.
      const own = (heard: readonly RecordVersion[]) => listen(heard);
      listeners.add(own);
      try {
        await asDependency('listening for notices', notices.listen);
      } catch (fault) {
        listeners.delete(own);
        throw fault;
      }
      return async () => {
        listeners.delete(own);
        if (listeners.size === 0) await notices.close();
      };
    },
  };
}
