/** How often a job waits for Redis before it leaves to its node. */
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type RedisUnderTest, settingsFor, startRedis } from '../../support/redis-servers.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { startSlowWire } from './slow-wire.ts';
import { type Instance, startInstance } from './start-instances.ts';

async function startPair(start: () => Promise<Instance[]>): Promise<[Instance, Instance]> {
  const [a, b] = (await start()) as [Instance, Instance];
  await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', maxConcurrentJobs: 64, onJob: async () => OUTPUT });
  await b.readyNodes(1);
  return [a, b];
}

it('a job waits for at most two answers of Redis before it leaves', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  let delayMs = 0;
  const port = await startSlowWire(redis.servers[0]?.port ?? 0, () => delayMs);
  const slow: RedisUnderTest = { ...redis, settings: settingsFor({ url: `redis://127.0.0.1:${port}` }) };
  const [a, b] = await startPair(async () => [
    await startInstance(slow, 'slow-wire'),
    await startInstance(slow, 'slow-wire'),
  ]);
  const left: number[] = [];
  await joinSdkNode({
    url: a.nodeUrl,
    nodeId: 'node-b',
    maxConcurrentJobs: 64,
    async onJob() {
      left.push(performance.now());
      return OUTPUT;
    },
  });
  await b.readyNodes(2);
  await a.post('/api/v1/nodes/node-a/cordon');
  await eventually(async () =>
    (await b.nodes()).some(({ node_id, cordoned }) => node_id === 'node-a' && cordoned),
  );
  for (const each of [a, b]) await a.settled((await each.dispatch()).job_id);
  delayMs = 250;
  for (const each of [a, b]) {
    const tookMs: number[] = [];
    // The best of a few: a message may arrive while its reader starts the next read, and then waits for that round trip, too.
    for (let tries = 0; tries < 4; tries += 1) {
      left.length = 0;
      const begunAt = performance.now();
      const dispatching = each.dispatch();
      await eventually(() => left.length === 1);
      tookMs.push((left[0] ?? 0) - begunAt);
      await dispatching;
    }
    expect(Math.min(...tookMs)).toBeLessThan(3 * delayMs);
  }
  delayMs = 0;
});
