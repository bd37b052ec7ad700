/** Late scripts: each finds another job of the same request, or the job in another state, and changes nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDropJob } from '../../../../src/adapters/redis/job-store/drop-job.ts';
import { createShelveJob } from '../../../../src/adapters/redis/job-store/shelve-job.ts';
import { createUnbindJob } from '../../../../src/adapters/redis/job-store/unbind-job.ts';
import type { JobRecord } from '../../../../src/domain/job.ts';
import type { JobStore } from '../../../../src/ports/job-store.ts';
import { perTest } from '../../../contracts/harness.ts';
import { draftRequest, fail, finish, repeatOf } from '../../../contracts/job-draft.ts';
import { type Connected, connectTo, freshKeys, openInstance } from '../../../support/redis-jobs.ts';
import { startRedis } from '../../../support/redis-servers.ts';

describe('a late script', () => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startRedis());
  });
  afterAll(() => redis.close());

  /** A request whose first job has failed, and the state of its second. */
  const start = perTest(async (end: (store: JobStore, jobId: string) => Promise<unknown>) => {
    const keys = freshKeys();
    const { store, close } = openInstance(redis, keys, 'instance-a');
    const first = draftRequest(Date.now());
    await store.admit(first);
    await fail(store, first.jobId);
    const second = repeatOf(first);
    await store.admit(second);
    await end(store, second.jobId);
    const states = async () => [await store.get(first.jobId), await store.get(second.jobId)];
    const [before, bound] = [await states(), await boundOf(store, first)];
    return {
      shelve: createShelveJob(redis.connection, keys),
      unbind: createUnbindJob(redis.connection, keys),
      drop: createDropJob(redis.connection, keys),
      store,
      first,
      second,
      close,
      async expectUnchanged() {
        expect(await states()).toEqual(before);
        expect(await boundOf(store, first)).toEqual(bound);
      },
    };
  });

  const boundOf = (store: JobStore, { tenantId, requestId }: JobRecord) =>
    store.bound(tenantId, requestId as string);
  const goOn = async () => undefined;

  it('shelves only the job that was found unbound', async () => {
    const { shelve, first, expectUnchanged } = await start(fail);
    await shelve(first.jobId);
    await expectUnchanged();
  });

  it.each([
    ['is live', goOn],
    ['has finished', finish],
  ])('shelves no job that is bound because it %s', async (_, end) => {
    const { shelve, second, expectUnchanged } = await start(end);
    await shelve(second.jobId);
    await expectUnchanged();
  });

  it.each([
    ['is live', goOn],
    ['has finished', finish],
  ])('does not unbind the next job, which %s', async (_, end) => {
    const { unbind, first, expectUnchanged } = await start(end);
    await unbind(first.jobId);
    await expectUnchanged();
  });

  it('does not unbind a live job', async () => {
    const { unbind, second, expectUnchanged } = await start(goOn);
    await unbind(second.jobId);
    await expectUnchanged();
  });

  it('drops only its own job, and only if it is settled', async () => {
    const { drop, store, first, second } = await start(finish);
    const kept = await store.get(second.jobId);
    await drop(first.jobId);
    expect(await store.get(first.jobId)).toBeUndefined();
    await drop(first.jobId);
    expect(await store.get(second.jobId)).toEqual(kept);
    const live = draftRequest(Date.now());
    await store.admit(live);
    await drop(live.jobId);
    expect(await store.get(live.jobId)).toEqual(live);
  });
});
