/** A store that lost writes, and instances that notice it when the test says so: what they write again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createKeys } from '../../../src/adapters/redis/keys.ts';
import { EVERYTHING } from '../../../src/cluster/recovery/failover-replay.ts';
import { leaseId } from '../../../src/domain/lease.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis-servers.ts';
import { startInstance } from '../multi-instance/start-instances.ts';
import { holdJobs, joinSdkNode, OUTPUT } from '../support/sdk-node.ts';

const TEST_MS = 120_000;

async function start(prefix: string) {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const store = new Redis(redis.settings.url);
  onTestFinished(() => store.disconnect());
  const join = async () => {
    let notice = () => {};
    const instance = await startInstance(redis, prefix, {}, '', (shared) => ({
      ...shared,
      watch(_, on) {
        notice = () => on.changed(EVERYTHING);
        return { isWell: () => true, close() {} };
      },
    }));
    return { ...instance, notice: () => notice() };
  };
  return { store, keys: createKeys(prefix), join };
}

describe('an instance that notices data loss', () => {
  it(
    'I2: releases restored leases of finished jobs again',
    async () => {
      const { store, keys, join } = await start('slots-back');
      const a = await join();
      await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
      await a.readyNodes(1);
      const { job_id } = await a.dispatch();
      await a.settled(job_id);
      const leases = keys.nodeLeases('node-a');
      await eventually(async () => (await store.zcard(leases)) === 0);
      // As on a replica that became master before it received the release.
      await store.zadd(leases, Date.now() + 65_000, leaseId(job_id, 1));
      a.notice();
      await eventually(async () => (await store.zcard(leases)) === 0);
    },
    TEST_MS,
  );

  it(
    'I3: admits a repeated request only after the other drivers replayed',
    async () => {
      const { store, join } = await start('asked-again');
      const [a, b] = [await join(), await join()];
      const held = holdJobs();
      await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', maxConcurrentJobs: 2, onJob: held.onJob });
      for (const each of [a, b]) await each.readyNodes(1);
      const first = await a.dispatch({ request_id: 'asked-once' });
      await held.job(1);
      await store.flushall();
      b.notice();
      const again = b.dispatch({ request_id: 'asked-once' });
      // Without the wait, another job would exist by then.
      await Promise.race([again, sleep(300)]);
      a.notice();
      expect((await again).job_id).toBe(first.job_id);
      held.finish(OUTPUT);
      expect(await b.settled(first.job_id)).toMatchObject({ result: OUTPUT, attempt_id: 1 });
      expect(held.begun).toHaveLength(1);
    },
    TEST_MS,
  );
});
