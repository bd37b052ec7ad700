/** Proves that instances share a store, over any kind of connection. */
import { expect } from 'vitest';
import type { RedisUnderTest } from '../../support/redis-servers.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import type { Settings } from '../support/start-app.ts';
import { type Instance, startInstance } from './start-instances.ts';

/** The node is on one instance, the job comes from another, and a third request reads it. */
export async function doJob(
  redis: RedisUnderTest,
  prefix: string,
  settings: Settings,
): Promise<[Instance, Instance]> {
  const a = await startInstance(redis, prefix, settings);
  const b = await startInstance(redis, prefix, settings);
  await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
  await b.readyNodes(1);
  const job = await b.dispatch({ request_id: 'over-there' });
  expect(await a.settled(job.job_id)).toMatchObject({ result: OUTPUT });
  return [a, b];
}
