/** Jobs whose records a failover loses or rolls back, on two instances. */

import type { JobStoreLimits, SharedJobStore } from '../../../../src/adapters/redis/job-store.ts';
import { jobTag } from '../../../../src/adapters/shared-jobs/job-scripts.ts';
import type { JobRecord, JobState } from '../../../../src/domain/job.ts';
import type { JobChange } from '../../../../src/domain/job-change.ts';
import { changeTo, draftRequest, expectedOf, RESULT } from '../../../contracts/job-draft.ts';
import { type Connected, freshKeys, openInstance } from '../../../support/redis-jobs.ts';

const FENCE = { nodeId: 'node-a', attempt: 1 };

/** Moves like the engine, with a time in each entry. */
export async function move(
  store: SharedJobStore,
  job: JobRecord,
  state: JobState,
  parts: Partial<JobChange> = {},
): Promise<JobRecord> {
  const entry = { state, at: Date.now(), attempt: parts.fence?.attempt ?? job.fence?.attempt ?? 0 };
  const moved = await store.move(job.jobId, expectedOf(job), changeTo(state, { entry, ...parts }));
  if (moved.kind !== 'moved') throw new Error(moved.kind);
  return moved.job;
}

export const dispatch = (store: SharedJobStore, job: JobRecord, fence = FENCE): Promise<JobRecord> =>
  move(store, job, 'DISPATCHED', { fence, intent: null });

export async function finish(store: SharedJobStore, job: JobRecord): Promise<JobRecord> {
  const running = await move(store, await dispatch(store, job), 'RUNNING');
  return move(store, running, 'FINISHED', { result: RESULT });
}

export const fail = (store: SharedJobStore, job: JobRecord): Promise<JobRecord> =>
  move(store, job, 'FAILED', { failure: { code: 'JOB_TIMEOUT', message: 'no answer' } });

export async function openLosing(redis: Connected, limits: Partial<JobStoreLimits> = {}) {
  const keys = freshKeys();
  const [one, two] = [openInstance(redis, keys, 'a', limits), openInstance(redis.other, keys, 'b', limits)];
  const keyOf = ({ jobId }: JobRecord) => keys.job(jobTag(jobId));
  const admit = async (draft = draftRequest(Date.now())) => {
    await one.store.admit(draft);
    return draft;
  };
  /** Returns a function that rolls the record back to its current state. */
  const remember = async (job: JobRecord) => {
    const fields = await redis.connection.hgetall(keyOf(job));
    return async () => {
      await redis.connection.del(keyOf(job));
      await redis.connection.hset(keyOf(job), fields);
      await redis.connection.pexpire(keyOf(job), 60_000);
    };
  };
  return {
    keys,
    a: one.store,
    b: two.store,
    admit,
    remember,
    lose: (job: JobRecord) => redis.connection.del(keyOf(job), keys.earlierJob(jobTag(job.jobId), job.jobId)),
    ttlOf: (job: JobRecord) => redis.connection.pttl(keyOf(job)),
    close: async () => void (await Promise.all([one.close(), two.close()])),
  };
}
