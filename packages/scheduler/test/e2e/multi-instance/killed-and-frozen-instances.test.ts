/** Instances that are killed or frozen: survivors take over their jobs, nodes reconnect, and a frozen instance changes nothing when it wakes. */
import type { TakeoversReply } from '@lingua/protocol';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis-servers.ts';
import { ensureBuilt } from '../support/ensure-built.ts';
import { holdJobs, joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { type InstanceProcess, startProcess } from './start-processes.ts';

beforeAll(ensureBuilt, 150_000);

const TEST_MS = 120_000;
let tests = 0;

async function startThree(): Promise<[InstanceProcess, InstanceProcess, InstanceProcess]> {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  tests += 1;
  const start = (name: string) => startProcess(redis, `deaths-${tests}`, name);
  return [await start('a'), await start('b'), await start('c')];
}

describe('an instance that is killed', () => {
  it(
    'as driver of a job: a survivor finishes the job',
    async () => {
      const [a, b, c] = await startThree();
      const held = holdJobs();
      await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: held.onJob });
      await b.readyNodes(1);
      const job = await b.dispatch({ request_id: 'orphan' });
      await held.job();
      await b.kill();
      held.finish(OUTPUT);
      const done = await eventually(async () => {
        const now = await c.job(job.job_id);
        return ['FINISHED', 'RELEASED'].includes(now.state) ? now : undefined;
      });
      expect(done.result).toMatchObject({ text_translated: OUTPUT.text_translated });
      expect(held.begun).toHaveLength(1);
      // A repeated request gets the same job, and nothing of the dead instance is left.
      expect((await a.dispatch({ request_id: 'orphan' })).job_id).toBe(job.job_id);
      await eventually(async () => {
        const { body } = await c.get<{ instances: { instance_id: string }[] }>('/api/v1/cluster');
        return body.instances.every(({ instance_id }) => instance_id !== 'b');
      });
      // A busy machine may freeze the others for long enough to be declared dead, too.
      const isDeathOfB = ({ instance_id, cause }: { instance_id: string; cause: string }): boolean =>
        instance_id === 'b' && cause === 'died';
      // The one that took the job over may learn later than the other that the takeover has ended.
      const taken = await eventually(async () => {
        const { body } = await c.get<TakeoversReply>('/api/v1/takeovers');
        return body.takeovers.some((line) => isDeathOfB(line) && line.jobs === 1) ? body : undefined;
      });
      const ofB = taken.takeovers.filter(isDeathOfB);
      expect(ofB.every(({ taken_over_by }) => ['a', 'c'].includes(taken_over_by))).toBe(true);
      expect([...taken.answered].sort()).toEqual(['a', 'c']);
    },
    TEST_MS,
  );

  it(
    'as holder of a node: the job is retried, and the node reconnects',
    async () => {
      const [a, b, c] = await startThree();
      const stuck = holdJobs();
      const node = await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: stuck.onJob });
      await b.readyNodes(1);
      const job = await b.dispatch();
      await stuck.job();
      await joinSdkNode({ url: c.nodeUrl, nodeId: 'node-c', onJob: async () => OUTPUT });
      await a.kill();
      node.kill();
      const done = await eventually(async () => {
        const now = await b.job(job.job_id);
        return now.result === undefined ? undefined : now;
      });
      expect(done.node_id).toBe('node-c');
      await joinSdkNode({ url: b.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
      await eventually(async () => {
        const nodes = await c.nodes();
        return nodes.find(({ node_id }) => node_id === 'node-a')?.instance_id === 'b';
      });
    },
    TEST_MS,
  );
});

describe('an instance that freezes', () => {
  it(
    'I4: changes nothing after a takeover, and continues as a new incarnation',
    async () => {
      const [a, b, c] = await startThree();
      const held = holdJobs();
      await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: held.onJob });
      await b.readyNodes(1);
      const job = await b.dispatch();
      await held.job();
      b.process.signal('SIGSTOP');
      held.finish(OUTPUT);
      const done = await eventually(async () => {
        const now = await c.job(job.job_id);
        return now.state === 'RELEASED' ? now : undefined;
      });
      b.process.signal('SIGCONT');
      await eventually(() => b.process.messages().includes('this instance was declared dead'));
      await eventually(async () => (await b.get('/health/ready')).status === 200);
      expect(await b.job(job.job_id)).toEqual(done);
      const next = await b.dispatch();
      expect(await c.settled(next.job_id)).toMatchObject({ result: OUTPUT });
    },
    TEST_MS,
  );
});
