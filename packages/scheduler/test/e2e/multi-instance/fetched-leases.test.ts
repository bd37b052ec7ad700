/** Leases of jobs that nodes fetch over HTTP: the fetch commits them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { watch } from '../redis/wire-tap.ts';
import { type Instance, startInstances } from './start-instances.ts';

const NODE = {
  node_id: 'node-http',
  semantic_langs: ['en', 'zh'],
  tts_langs: ['zh'],
  max_concurrent_jobs: 1,
  health: 'ready',
};

interface Fetched {
  readonly jobs: readonly { readonly job_id: string; readonly attempt_id: number }[];
}

async function fetchJob(at: Instance) {
  const { jobs } = (await at.get<Fetched>(`/v1/node/${NODE.node_id}/jobs?wait_ms=5000`)).body;
  return { ...jobs[0], node_id: NODE.node_id };
}

/** Commands that commit a lease while a job is acknowledged and works for a moment. */
async function commitsAfterFetch(first: Instance, second: Instance, seen: string[]): Promise<string[]> {
  const fetching = fetchJob(second);
  const { job_id: jobId } = await first.dispatch();
  const report = await fetching;
  seen.length = 0;
  expect((await second.post('/v1/job/ack', report)).body).toMatchObject({ accepted: true });
  await sleep(300);
  await second.post('/v1/job/done', { ...report, text_asr: 'hello', text_translated: '你好' });
  await first.settled(jobId);
  return seen.filter((command) => command === 'commit-lease');
}

describe('the lease of a fetched job', () => {
  it('is committed by the fetch and by no later command', async () => {
    const { redis, instances } = await startInstances(2);
    const [a, b] = instances as [Instance, Instance];
    await b.post('/v1/node/register', NODE);
    await a.readyNodes(1);
    const seen = await watch(redis);
    expect(await commitsAfterFetch(a, b, seen)).toEqual([]);
  });

  it('I2 no leak: ends soon if the node never acknowledges', async () => {
    const { instances } = await startInstances(2, {
      'scheduler.cluster.redis.command_timeout_ms': 800,
      'scheduler.reserve_timeout_ms': 800,
      'scheduler.ack_timeout_ms': 1_000,
      'scheduler.reservation_ttl_ms': 1_500,
      // Far beyond the limit of this test: a lease of the whole job timeout would not end in time.
      'scheduler.job_timeout_seconds': 120,
      'scheduler.job_deadline_ms': 200_000,
      'scheduler.max_retry': 0,
    });
    const [a, b] = instances as [Instance, Instance];
    await b.post('/v1/node/register', NODE);
    await a.readyNodes(1);
    const fetching = fetchJob(b);
    await a.dispatch();
    await fetching;
    // The node takes one job at a time, so a second job proves that the lease of the first has ended.
    await eventually(async () => (await a.tryDispatch({ wait_ms: 0 })).status < 300);
  });
});
