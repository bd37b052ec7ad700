/** Typed wrapper of reconcile-node.lua. Cold path: once per heartbeat. */
import type { NodeId } from '../../../domain/ids.ts';
import type { Load } from '../../../domain/lease.ts';
import type { LoadReport } from '../../../ports/capacity-ledger.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { loadOf } from './read-load.ts';

const UNKNOWN = -1;

export function createReconcileNode(connection: RedisConnection, keys: Keys, idleMs: number) {
  const run = loadScript(connection, import.meta.url, 'reconcile-node');
  return async (
    nodeId: NodeId,
    { running, claim = 0, runningJobIds, ageMs = 0, takenMs = UNKNOWN }: LoadReport,
  ): Promise<Load | undefined> => {
    const reply = await run(
      [keys.nodeMeta(nodeId), keys.nodeLeases(nodeId), keys.nodeLeaseMarks(nodeId)],
      [
        running,
        runningJobIds === undefined ? '' : JSON.stringify(runningJobIds),
        idleMs,
        ageMs,
        takenMs,
        claim,
      ],
    );
    return reply[0] === 'unknown_node' ? undefined : loadOf(reply);
  };
}
