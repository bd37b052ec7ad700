/** What a job asks of Redis when two instances share it: how many commands, and how often it waits for an answer before it leaves. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import {
  type RedisUnderTest,
  settingsFor,
  startRedis,
  startRedisWithoutShardedChannels,
} from '../../support/redis-servers.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { startSlowWire } from './slow-wire.ts';
import { type Instance, startInstance, startInstances } from './start-instances.ts';
import { costOf, idleOf, sum, watch } from './wire-tap.ts';

/** One that is quick is written in fewer: what happens at its node is one move, and its lease need not be lengthened. */
const MOST_LOCAL = 8;
/** One that is quick is said to leave, to be there and to be done in two messages' commands, and two to read them. */
const MOST_REMOTE = 10;
const TOGETHER = 32;
const ROUNDS = 4;
/** As long as a job usually stays at its node. */
const USUAL_MS = 300;
const USUAL_JOBS = 12;

async function startPair(start: () => Promise<Instance[]>): Promise<[Instance, Instance]> {
  const [a, b] = (await start()) as [Instance, Instance];
  await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', maxConcurrentJobs: 64, onJob: async () => OUTPUT });
  await b.readyNodes(1);
  return [a, b];
}

describe('a job among two instances', () => {
  it('asks a constant number of commands of Redis: at most 8 when its node is here, 10 when it is not', async () => {
    const { redis, instances } = await startInstances(2);
    const [a, b] = await startPair(async () => instances);
    const seen = await watch(redis);
    const one = (instance: Instance) => async (): Promise<void> => {
      await instance.dispatch();
      await eventually(() => instance.app.jobs.inFlight() === 0);
    };
    // Every script is known to the server, and every connection is made.
    for (const each of [a, b]) await costOf(seen, one(each));
    const idle = await idleOf(seen);
    for (const [instance, most] of [
      [a, MOST_LOCAL],
      [b, MOST_REMOTE],
    ] as const) {
      const first = await costOf(seen, one(instance), { idle });
      const later = await costOf(seen, one(instance), { idle });
      expect(sum(first), JSON.stringify(first)).toBeLessThanOrEqual(most);
      // Not one more for having been preceded by others.
      expect(sum(later), JSON.stringify(later)).toBeLessThanOrEqual(most);
    }
    const many = async (): Promise<void> => {
      await Promise.all(Array.from({ length: TOGETHER }, () => b.dispatch()));
      await eventually(() => b.app.jobs.inFlight() === 0);
    };
    const amongMany = await costOf(seen, many, { rounds: ROUNDS, together: TOGETHER, idle });
    expect(sum(amongMany), JSON.stringify(amongMany)).toBeLessThanOrEqual(MOST_REMOTE);
  });

  it('asks no more of them when its node elsewhere takes a moment: what is told its driver goes together', async () => {
    const { redis, instances } = await startInstances(2);
    const [a, b] = instances as [Instance, Instance];
    await joinSdkNode({
      url: a.nodeUrl,
      nodeId: 'node-a',
      maxConcurrentJobs: 64,
      // Long enough for the acknowledgement to be a message of its own.
      onJob: () => new Promise((resolve) => setTimeout(resolve, 1, OUTPUT)),
    });
    await b.readyNodes(1);
    const seen = await watch(redis);
    const one = async (): Promise<void> => {
      await b.dispatch();
      await eventually(() => b.app.jobs.inFlight() === 0);
    };
    await costOf(seen, one);
    const cost = await costOf(seen, one, { idle: await idleOf(seen) });
    expect(sum(cost), JSON.stringify(cost)).toBeLessThanOrEqual(MOST_REMOTE);
    expect(cost['send-messages'], JSON.stringify(cost)).toBeLessThan(2.5);
  });

  it.each([
    ['sharded channels', startRedis],
    ['plain ones only', startRedisWithoutShardedChannels],
  ])(
    'asks at most ten, too, when it is alone and its node elsewhere works for a while; %s',
    async (_, start) => {
      const { redis, instances } = await startInstances(2, {}, '', start);
      const [a, b] = instances as [Instance, Instance];
      await joinSdkNode({
        url: a.nodeUrl,
        nodeId: 'node-a',
        maxConcurrentJobs: 64,
        onJob: () => new Promise((resolve) => setTimeout(resolve, USUAL_MS, OUTPUT)),
      });
      await b.readyNodes(1);
      const seen = await watch(redis);
      const one = async (): Promise<void> => {
        await b.dispatch();
        await eventually(() => b.app.jobs.inFlight() === 0);
      };
      await costOf(seen, one, { rounds: ROUNDS });
      const cost = await costOf(seen, one, { rounds: USUAL_JOBS, idle: await idleOf(seen) });
      const said = JSON.stringify(cost);
      // Its messages are told, so that nobody has to read them.
      expect(sum(cost), said).toBeLessThanOrEqual(MOST_REMOTE);
      expect(cost['send-messages'], said).toBeGreaterThan(2.5);
      expect(cost.xreadgroup ?? 0, said).toBeLessThan(2);
      expect(cost['commit-lease'] ?? 0, said).toBeLessThan(0.5);
    },
  );

  it('waits for at most two answers of Redis before it leaves to its node, wherever that is', async () => {
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
      // The best of a few: a message may come just when its reader asks anew, and then waits for that answer too.
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
});
