/** Cold path: prints the pools in force for operators. Pure. */
import type { PoolsReply } from '@lingua/protocol';
import type { PoolsReading } from '../../../runtime/explain/read-pools.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';

export function viewPools({ plan, pools, unpooled }: PoolsReading, settings: object): PoolsReply {
  const planned = new Map(plan?.pools.map((pool) => [pool.poolId, pool]));
  return {
    config: { ...settings },
    pools: pools.map((pool) => {
      const { name, requiredServices } = planned.get(pool.poolId) ?? {};
      return omitUndefined({
        pool_id: pool.poolId,
        pool_name: name === '' ? undefined : name,
        pool_required_services: requiredServices && [...requiredServices],
        total_nodes: pool.total,
        online_nodes: pool.online,
        ready_nodes: pool.ready,
        core_services_installed: Object.fromEntries(pool.installed),
        core_services_ready: Object.fromEntries(pool.readyServices),
        sample_node_ids: [...pool.sampleNodeIds],
      });
    }),
    unpooled: { total_nodes: unpooled.total, sample_node_ids: [...unpooled.sampleNodeIds] },
  };
}
