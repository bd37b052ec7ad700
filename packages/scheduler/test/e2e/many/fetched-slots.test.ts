/** Slots of jobs that nodes fetch over HTTP: they last from then on, if every instance sees to that, and not without the node's word. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { SharedStore } from '../../../src/app/redis-store.ts';
import type { Instance as Presence } from '../../../src/ports/instances.ts';
import { eventually } from '../../support/eventually.ts';
import { type Instance, startInstance, startInstances } from './start-instances.ts';
import { watch } from './wire-tap.ts';

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

/** As an instance of a version that leaves slots as they are tells of itself. */
function asBefore(store: SharedStore): SharedStore {
  const former = ({ lastsFetched: _, ...self }: Presence): Presence => self;
  const { instances } = store;
  return {
    ...store,
    instances: {
      ...instances,
      announce: (self, ttlMs) => instances.announce(former(self), ttlMs),
      renew: (self, ttlMs) => instances.renew(former(self), ttlMs),
    },
  };
}

/** What makes a lease last while a job is acknowledged and works for a moment. */
async function madeToLast(first: Instance, second: Instance, seen: string[]): Promise<string[]> {
  const fetching = fetchJob(second);
  const { job_id: jobId } = await first.dispatch();
  const report = await fetching;
  seen.length = 0;
  expect((await second.post('/v1/job/ack', report)).body).toMatchObject({ accepted: true });
  await sleep(300);
  await second.post('/v1/job/done', { ...report, text_asr: 'hello', text_translated: '你好' });
  await first.settled(jobId);
  return seen.filter((command) => ['commit-lease', 'keep-lease'].includes(command));
}

describe('the slot of a job that its node fetched', () => {
  it('needs nobody to make it last, unless there is an instance of a version that leaves slots as they are', async () => {
    const { redis, prefix, instances } = await startInstances(2);
    const [a, b] = instances as [Instance, Instance];
    await b.post('/v1/node/register', NODE);
    await a.readyNodes(1);
    const seen = await watch(redis);
    expect(await madeToLast(a, b, seen)).toEqual([]);
    await startInstance(redis, prefix, {}, '', asBefore);
    // As soon as it is seen, one does so for each job.
    await eventually(async () => (await madeToLast(a, b, seen)).length === 1);
  });

  it('I2 no leak: is free soon after it was given up, if the node was never heard of again', async () => {
    const { instances } = await startInstances(2, {
      'scheduler.phase2.redis.command_timeout_ms': 800,
      'scheduler.reserve_timeout_ms': 800,
      'scheduler.ack_timeout_ms': 1_000,
      'scheduler.reservation_ttl_ms': 1_500,
      // Far beyond the limit of this test: a slot that lasts as long as the job may is not free in time.
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
    // It takes one job at a time, and is not asked again for one that it may have.
    await eventually(async () => (await a.tryDispatch({ wait_ms: 0 })).status < 300);
  });
});
