/** Tenant caps over several instances: each grants its share, and a single one all of it. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis-servers.ts';
import { ensureBuilt } from '../support/ensure-built.ts';
import { joinSdkNode } from '../support/sdk-node.ts';
import { holdEachJob } from '../support/session-jobs.ts';
import { type InstanceProcess, startProcess } from './start-processes.ts';

beforeAll(ensureBuilt, 150_000);

const TEST_MS = 120_000;
const CAP = { 'scheduler.tenant_limits.max_inflight_jobs': 10 };

/** Until a dispatch is refused. */
async function takenBy(instance: InstanceProcess, most = 20): Promise<number> {
  for (let count = 0; count < most; count += 1) {
    const { status, body } = await instance.tryDispatch({ tenant_id: 'acme' });
    if (status === 429) return count;
    if (status !== 200)
      throw new Error(`neither taken nor refused by the cap: ${status} ${JSON.stringify(body)}`);
  }
  return most;
}

const knowsInstances = (instance: InstanceProcess, count: number) =>
  eventually(async () => {
    const { body } = await instance.get<{ instances: unknown[] }>('/api/v1/cluster');
    return body.instances.length === count || undefined;
  });

describe('a tenant with a cap of 10 jobs on two instances', () => {
  it(
    'has 5 on each, and 10 on the survivor of a kill',
    async () => {
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const [a, b] = [
        await startProcess(redis, 'tenant-caps', 'a', CAP),
        await startProcess(redis, 'tenant-caps', 'b', CAP),
      ];
      const each = holdEachJob();
      await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', maxConcurrentJobs: 50, onJob: each.onJob });
      for (const instance of [a, b]) {
        await instance.readyNodes(1);
        await knowsInstances(instance, 2);
      }
      // The membership view may be one interval old: until then the instance seems to be the only one.
      let onA = 0;
      await eventually(async () => {
        const { status, body } = await a.tryDispatch({ tenant_id: 'acme' });
        onA += status === 200 ? 1 : 0;
        return status === 429 && body.detail.includes('5 of them on each of 2 instances');
      });
      expect(await takenBy(a)).toBe(0);
      await each.job(onA);
      expect(await takenBy(b)).toBe(5);
      const onB = await eventually(() => (each.begun.length === onA + 5 ? each.begun.slice(onA) : undefined));
      for (const job of onB) each.finish(each.begun.indexOf(job) + 1);
      for (const job of onB) await b.settled(job.job_id);
      // Jobs that were accepted in that time end, too: then the instance has its share.
      for (let at = onA; at > 5; at -= 1) each.finish(at);
      await b.kill();
      let more = 0;
      await eventually(async () => {
        more += await takenBy(a);
        return more >= 5 || undefined;
      });
      expect(more).toBe(5);
      const refused = await a.tryDispatch({ tenant_id: 'acme' });
      expect(refused.body.detail).toContain('may have 10 jobs in flight (max_inflight_jobs):');
    },
    TEST_MS,
  );
});
