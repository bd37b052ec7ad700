/** The reserve script by itself, through the same client: every job needs it once, so no job can be faster. */
import { createCapacityLedger } from '../../../packages/scheduler/dist/adapters/redis/capacity-ledger.js';
import { createKeys } from '../../../packages/scheduler/dist/adapters/redis/keys.js';
import { connectTo } from '../redis/redis-server.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { nodeName } from './fleet-of.ts';
import type { JobTarget } from './job-target.ts';

/** Nothing is released between two rounds: there is room for all of it, and for long enough. */
const ROOM = 1e9;
const LEASE_MS = 600_000;

export async function createEvalshaTarget({ fleet }: Scenario, redisPort: number): Promise<JobTarget> {
  const connection = await connectTo(redisPort, 'evalsha');
  const keys = createKeys('evalsha');
  const ledger = createCapacityLedger({ connection, keys });
  const nodes = Array.from({ length: fleet.nodes }, (_, index) => nodeName(index));
  for (const nodeId of nodes) await ledger.declare(nodeId, { slots: ROOM, isAccepting: true });
  let count = 0;
  return {
    async run(_, left) {
      const lease = `job-${count}:1`;
      const answer = await ledger.reserve(nodes[count++ % nodes.length] ?? '', lease, LEASE_MS);
      if (answer.kind !== 'reserved') throw new Error(`the script answered ${answer.kind}`);
      left();
      return true;
    },
    beat: async () => {},
    async tidy() {
      for (const nodeId of nodes) await connection.del(keys.nodeLeases(nodeId));
    },
  };
}
