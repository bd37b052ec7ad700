/** Subscriptions to jobs of other instances under faults: old servers, lost notices, drivers that die. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createJobEvents as createLocalEvents } from '../../../../src/adapters/memory/job-events.ts';
import { createJobEvents } from '../../../../src/adapters/redis/job-events.ts';
import type { JobRecord } from '../../../../src/domain/job.ts';
import { fresh, perTest, times } from '../../../contracts/harness.ts';
import { changeTo, draftJob, expectedOf } from '../../../contracts/job-draft.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { type Connected, connectTo, freshKeys, openInstance } from '../../../support/redis-jobs.ts';
import { startRedis, startRedisWithoutShardedChannels } from '../../../support/redis-servers.ts';

const LIMIT = { timeout: 60_000 };

describe.each([
  ['with sharded channels', () => startRedis()],
  ['without sharded channels', startRedisWithoutShardedChannels],
])('subscriptions on a server %s', (_, startServer) => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startServer());
  });
  afterAll(() => redis.close());

  const open = perTest(async () => {
    const keys = freshKeys();
    const eventsClock = createManualClock();
    const [here, there] = [
      openInstance(redis, keys, 'here', { eventsClock }),
      openInstance(redis.other, keys, 'there', { eventsClock }),
    ];
    return {
      keys,
      here,
      there,
      close: async () => void (await Promise.all([here.close(), there.close()])),
    };
  });

  async function moveThere(there: ReturnType<typeof openInstance>, job: JobRecord): Promise<JobRecord> {
    const moved = await there.store.move(job.jobId, expectedOf(job), changeTo('FAILED'));
    if (moved.kind !== 'moved') throw new Error(moved.kind);
    there.events.publish(moved.job);
    return moved.job;
  }

  it('receives moves on other instances, of many jobs at a time', async () => {
    const { here, there } = await open();
    const drafts = times(50, () => draftJob(Date.now()));
    const received = new Map<string, string>();
    for (const draft of drafts) {
      await there.store.admit(draft);
      here.events.subscribe(draft.jobId, (job) => received.set(job.jobId, job.state));
    }
    await vi.waitFor(() => expect(received.size).toBe(50), LIMIT);
    await Promise.all(drafts.map((draft) => moveThere(there, draft)));
    await vi.waitFor(() => expect(new Set(received.values())).toEqual(new Set(['FAILED'])), LIMIT);
  });

  it('finds moves by reading when notices are lost, until it unsubscribes', async () => {
    const { keys, here, there } = await open();
    const clock = createManualClock();
    const local = createLocalEvents({ maxListeners: 10 });
    let looks = 0;
    const store = {
      ...here.store,
      watch: (jobId: string, revision: number) => {
        looks += 1;
        return here.store.watch(jobId, revision);
      },
    };
    const events = createJobEvents({ ...redis, keys, clock, instanceId: 'here', local, store });
    const draft = draftJob(Date.now());
    await there.store.admit(draft);
    const received: string[] = [];
    const subscription = events.subscribe(draft.jobId, (job) => received.push(job.state));
    await vi.waitFor(() => expect(received).toEqual(['CREATED']), LIMIT);
    // The job moved, and its driver died before it sent a notice.
    await there.store.move(draft.jobId, expectedOf(draft), changeTo('FAILED'));
    await clock.advance(2_000);
    await vi.waitFor(() => expect(received).toEqual(['CREATED', 'FAILED']), LIMIT);
    if (subscription.kind === 'subscribed') subscription.stop();
    const before = looks;
    await clock.advance(10_000);
    expect(looks).toBe(before);
    await events.close();
  });

  it('sends no command for a job that is driven here', async () => {
    const { keys, here } = await open();
    const draft = draftJob(Date.now());
    await here.store.admit(draft);
    const received: string[] = [];
    here.events.subscribe(draft.jobId, (job) => received.push(job.state));
    const moved = await here.store.move(draft.jobId, expectedOf(draft), changeTo('RESERVED'));
    if (moved.kind === 'moved') here.events.publish(moved.job);
    expect(received).toEqual(['RESERVED']);
    expect(await redis.connection.hget(keys.job(draft.jobId), 'watchers')).toBeNull();
  });

  it('records each watching instance once', async () => {
    const { keys, here, there } = await open();
    const third = openInstance(redis, keys, 'her');
    const draft = draftJob(Date.now());
    await there.store.admit(draft);
    for (const { store } of [here, here, third, here]) await store.watch(draft.jobId, -1);
    expect(await redis.connection.hget(keys.job(draft.jobId), 'watchers')).toBe('here\nher\n');
    expect(await here.store.watch(draft.jobId, 1)).toBeUndefined();
    expect(await here.store.watch(fresh('job'), -1)).toBeUndefined();
    const moved = await there.store.move(draft.jobId, expectedOf(draft), changeTo('FAILED'));
    expect(moved.kind === 'moved' && there.store.watchersOf(moved.job)).toEqual(['here', 'her']);
    await third.close();
  });
});
