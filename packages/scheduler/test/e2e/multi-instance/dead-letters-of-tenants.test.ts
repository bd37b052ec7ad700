/** I10, I11: a message that an instance cannot handle is kept with the tenant of its job, and one tenant has only its part of the dead letters. */
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { createKeys } from '../../../src/adapters/redis/keys.ts';
import { eventually } from '../../support/eventually.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { type Instance, startInstances } from './start-instances.ts';

const DIES_SOON = {
  'scheduler.cluster.dlq_max_deliveries': 1,
  'scheduler.cluster.dlq_min_idle_ms': 100,
  'scheduler.cluster.dlq_scan_interval_ms': 1_000,
  'scheduler.cluster.reclaim_idle_ms': 100,
  'scheduler.cluster.dlq_maxlen': 4,
  'scheduler.tenant_limits.max_share_percent': 50,
};

it('messages about the jobs of one tenant leave the dead letters of another', async () => {
  const { redis, prefix, instances } = await startInstances(1, DIES_SOON);
  const [app] = instances as [Instance];
  const client = new Redis({ port: redis.servers[0]?.port ?? 0 });
  onTestFinished(() => client.disconnect());
  const keys = createKeys(prefix);
  await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
  await app.readyNodes(1);
  const { job_id: modest } = await app.dispatch({ tenant_id: 'modest' });
  const { job_id: greedy } = await app.dispatch({ tenant_id: 'greedy' });

  // Reports without their kind: a fault of another instance.
  for (const jobId of [modest, greedy, greedy, greedy, greedy, 'job-forgotten']) {
    const body = { attempt: { nodeId: 'n', jobId, attempt: 1 } };
    const text = `${jobId} ${JSON.stringify({ topic: 'report', from: 'x', body })}`;
    await client.xadd(keys.inbox(app.instanceId), '*', 'body', text);
  }
  const tenants = () =>
    client
      .xrange(keys.deadLetters(app.instanceId), '-', '+')
      .then((letters) => letters.map(([, fields]) => fields[7]));
  await eventually(async () => (await tenants()).at(-1) === '');
  expect(await tenants()).toEqual(['modest', 'greedy', 'greedy', '']);
});
