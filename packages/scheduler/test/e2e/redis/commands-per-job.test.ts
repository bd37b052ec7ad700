/** How many commands a job on another instance's node costs Redis, of all commands on the wire. */
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Instance, startInstances } from '../multi-instance/start-instances.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { costOf, sum, watch } from './wire-tap.ts';

const MOST = 10;
const IN_FLIGHT = 64;
const WORK_MS = 300;
const JOBS = 6 * IN_FLIGHT;
/** A job leaves the driver's memory a little before its slot is free. */
const SLOTS = 2 * IN_FLIGHT;

it('a 300 ms job on a remote node costs at most 10 commands', { timeout: 240_000 }, async () => {
  const { redis, instances } = await startInstances(2, {
    'scheduler.max_concurrent_jobs_per_node': SLOTS,
    // A busy machine must not make Redis look dead: refused dispatches cost commands, too.
    'scheduler.cluster.redis.command_timeout_ms': 3_000,
  });
  const [a, b] = instances as [Instance, Instance];
  await joinSdkNode({
    url: a.nodeUrl,
    nodeId: 'node-a',
    maxConcurrentJobs: SLOTS,
    onJob: () => new Promise((resolve) => setTimeout(resolve, WORK_MS, OUTPUT)),
  });
  await b.readyNodes(1);
  const seen = await watch(redis);
  const dispatchAll = async (count: number): Promise<void> => {
    const inFlight = new Set<Promise<unknown>>();
    const faults: unknown[] = [];
    for (let job = 0; job < count; job += 1) {
      await eventually(() => b.app.jobs.inFlight() + inFlight.size < IN_FLIGHT);
      const dispatching = b
        .dispatch()
        .catch((fault: unknown) => faults.push(fault))
        .finally(() => inFlight.delete(dispatching));
      inFlight.add(dispatching);
    }
    await eventually(() => b.app.jobs.inFlight() + inFlight.size === 0);
    expect(faults).toEqual([]);
  };
  // Loads every script and opens every connection.
  await dispatchAll(IN_FLIGHT);
  const cost = await costOf(seen, () => dispatchAll(JOBS), { together: JOBS });
  expect(sum(cost), JSON.stringify(cost)).toBeLessThanOrEqual(MOST);
});
