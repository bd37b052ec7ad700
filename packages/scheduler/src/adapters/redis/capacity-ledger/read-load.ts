/** Typed wrapper of read-load.lua, for many nodes at once. */
import type { NodeId } from '../../../domain/ids.ts';
import type { Load } from '../../../domain/lease.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { runForMany, type ScriptCall } from '../connection/run-for-many.ts';
import { loadScript, type Reply } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createReadLoad(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'read-load');
  const call = (nodeId: NodeId): ScriptCall => ({
    keys: [keys.nodeMeta(nodeId), keys.nodeLeases(nodeId)],
    args: [],
  });
  return async (nodeIds: readonly NodeId[]): Promise<ReadonlyMap<NodeId, Load>> => {
    const each = [...new Set(nodeIds)];
    const replies = await runForMany(connection, run, each.map(call));
    const loads = new Map<NodeId, Load>();
    for (const [index, reply] of replies.entries()) {
      if (reply[0] === 'load') loads.set(each[index] as NodeId, loadOf(reply));
    }
    return loads;
  };
}

/** The load in the reply of a ledger script, after its outcome. */
export const loadOf = ([, used, max]: Reply): Load => ({ used: Number(used), max: Number(max) });
