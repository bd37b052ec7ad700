/**
 * Node records of all instances. The record of a node and its presence are in the node's own hash slot, each written by one script; a
 * few sorted sets list the ids, because no command may scan all keys.
 *
 * A heartbeat costs one write: `enlist` keeps the lists, for many ids at once, and notices are sent only for changes.
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
  /** For subscriptions only. */
  subscriber: RedisConnection;
  keys: Keys;
  /** Ids that were not enlisted for this long are no longer listed. */
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
  const notices = createRecordNotices({ ...deps, onNotices: notify });

  function notify(notices: readonly RecordVersion[]): void {
    for (const listen of listeners) {
      try {
        listen(notices);
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
      // Also for a repeat: an earlier post may have failed after it wrote the record.
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

    async read(nodes) {
      const statuses = await Promise.all(nodes.map(readRecord));
      return new Map(nodes.map(({ nodeId }, at) => [nodeId, statuses[at] ?? { kind: 'unknown' }]));
    },

    page,

    async subscribe(listen) {
      // A wrapper, so that one function may subscribe twice and each subscription ends alone.
      const own = (notices: readonly RecordVersion[]) => listen(notices);
      listeners.add(own);
      try {
        await asDependency('subscribing to notices', notices.subscribe);
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
