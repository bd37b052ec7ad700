/** A Redis that is emptied under running instances: every instance writes its state again. */
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createKeys } from '../../../src/adapters/redis/keys.ts';
import { leaseId } from '../../../src/domain/lease.ts';
import { eventually } from '../../support/eventually.ts';
import type { RedisUnderTest } from '../../support/redis-servers.ts';
import { type Instance, startInstances } from '../multi-instance/start-instances.ts';
import { SHORT_PRESENCE } from '../multi-instance/start-processes.ts';
import { connectLegacyNode } from '../support/legacy-node.ts';
import { holdJobs, joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { TOKEN_TOML, TOKENS } from '../support/tokens.ts';

const TEST_MS = 120_000;
/** Anonymous clients may do everything; a token has another identity. */
const TOML = `[server]\nanonymous = ["node", "session", "operator"]\n${TOKEN_TOML}`;

/** The limit of each expectation. */
const soon = (expectation: () => Promise<void>): Promise<true> =>
  eventually(async () => {
    await expectation();
    return true as const;
  });

function connect({ settings }: RedisUnderTest): Redis {
  const client = new Redis(settings.url);
  onTestFinished(() => client.disconnect());
  return client;
}

async function startThree() {
  const { redis, prefix, instances } = await startInstances(3, SHORT_PRESENCE, TOML);
  const [a, b, c] = instances as [Instance, Instance, Instance];
  return { store: connect(redis), keys: createKeys(prefix), a, b, c, instances };
}

describe('an emptied Redis', () => {
  it(
    'gets nodes, leases and jobs again, and running jobs end normally',
    async () => {
      const { store, keys, a, b, c, instances } = await startThree();
      const held = holdJobs();
      const options = { maxConcurrentJobs: 2, onJob: held.onJob };
      const nodes = [
        await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', ...options }),
        await joinSdkNode({ url: b.nodeUrl, nodeId: 'node-b', ...options }),
      ];
      for (const each of instances) await each.readyNodes(2);
      // Every slot is in use, by jobs of all instances.
      const jobs = [await a.dispatch(), await b.dispatch(), await c.dispatch(), await c.dispatch()];
      await held.job(4);
      for (const { job_id } of jobs) await eventually(async () => (await a.job(job_id)).state === 'RUNNING');
      const leases = async (): Promise<string[]> =>
        (
          await Promise.all(['node-a', 'node-b'].map((id) => store.zrange(keys.nodeLeases(id), '0', '-1')))
        ).flat();
      const before = (await leases()).sort();
      expect(before).toEqual(jobs.map(({ job_id }) => leaseId(job_id, 1)).sort());

      const schema = await store.get(keys.schema);
      await store.flushall();
      await soon(async () => expect((await leases()).sort()).toEqual(before));
      // An instance with another schema cannot start on it now.
      await soon(async () => expect([schema, await store.get(keys.schema)]).toEqual(['1', '1']));
      for (const each of instances) {
        await soon(async () => {
          const views = await Promise.all(jobs.map(({ job_id }) => each.job(job_id)));
          expect(views.map(({ state }) => state)).toEqual(Array(4).fill('RUNNING'));
        });
        // The node is full, not unknown: used slots are not given out.
        await soon(async () => {
          const { status, body } = await each.tryDispatch();
          expect([status, body.error]).toEqual([503, 'ALL_CANDIDATES_FULL_OR_FAILED']);
        });
      }
      held.finish(OUTPUT);
      for (const { job_id } of jobs) {
        expect(await c.settled(job_id)).toMatchObject({ result: OUTPUT, attempt_id: 1 });
      }
      for (const each of instances) {
        const next = await eventually(() => each.dispatch());
        expect(await a.settled(next.job_id)).toMatchObject({ result: OUTPUT });
      }
      expect(held.begun).toHaveLength(jobs.length + instances.length);
      await soon(async () => expect(await leases()).toEqual([]));
      expect(nodes.map((node) => node.metrics().reconnects)).toEqual([0, 0]);
    },
    TEST_MS,
  );

  it(
    'loses no result that arrives before the replay',
    async () => {
      const { store, a, b, c, instances } = await startThree();
      const held = holdJobs();
      await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', maxConcurrentJobs: 2, onJob: held.onJob });
      for (const each of instances) await each.readyNodes(1);
      // One job whose driver holds the node, and one with another driver.
      const jobs = [await a.dispatch(), await b.dispatch()];
      await held.job(2);
      for (const { job_id } of jobs) await eventually(async () => (await c.job(job_id)).state === 'RUNNING');
      await store.flushall();
      held.finish(OUTPUT);
      for (const { job_id } of jobs) {
        await soon(async () =>
          expect(await c.job(job_id)).toMatchObject({ state: 'RELEASED', result: OUTPUT, attempt_id: 1 }),
        );
      }
      expect(held.begun).toHaveLength(2);
      for (const each of instances) expect(each.app.jobs.inFlight()).toBe(0);
    },
    TEST_MS,
  );

  it(
    'never gives the id of a connected node to another credential',
    async () => {
      const { store, keys, a, b, c } = await startThree();
      const node = await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
      for (const each of [b, c]) await each.readyNodes(1);
      const claim = () => store.hmget(keys.nodeMeta('node-a'), 'credential', 'generation');
      const before = await claim();

      await store.flushall();
      // At the holder of the node, and at another instance.
      for (const each of [a, b, c]) {
        const socket = { headers: { authorization: `Bearer ${TOKENS.node}` } };
        const intruder = await connectLegacyNode({
          url: each.nodeUrl,
          nodeId: 'node-a',
          socket,
        }).registered();
        expect(intruder.nodeId()).not.toBe('node-a');
        intruder.drop();
      }
      await soon(async () => expect(await claim()).toEqual(before));
      expect(node.metrics()).toMatchObject({ reconnects: 0, isRegistered: true });
      const views = await c.nodes();
      expect(views.find(({ node_id }) => node_id === 'node-a')?.instance_id).toBe(a.instanceId);
    },
    TEST_MS,
  );
});
