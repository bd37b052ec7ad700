/** Jobs that several instances share, in memory: records with their driver, and the index of each driver. */
import { createJobStore } from '../../../src/adapters/memory/job-store.ts';
import type { IndexedJob, TakeoverStore } from '../../../src/cluster/recovery/takeover.ts';
import type { JobId } from '../../../src/domain/ids.ts';
import { isSettled, type JobRecord } from '../../../src/domain/job.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { draftJob } from '../../contracts/job-draft.ts';

const LIMITS = {
  bindingLeaseMs: 90_000,
  retentionMs: 300_000,
  maxRetained: 10_000,
  maxRetainedBytes: 10_000_000,
  maxInflight: 100_000,
  maxBindings: 10_000,
};

const instanceOf = (driver: string): string => driver.slice(0, driver.lastIndexOf('/'));

export function createSharedJobs(clock: Clock) {
  const store = createJobStore({ clock, ...LIMITS });
  const drivers = new Map<JobId, string>();
  const indexes = new Map<string, Map<JobId, IndexedJob>>();
  /** The steps of the takeover, in order. */
  const done: string[] = [];

  const indexOf = (instanceId: string): Map<JobId, IndexedJob> => {
    const index = indexes.get(instanceId) ?? new Map<JobId, IndexedJob>();
    indexes.set(instanceId, index);
    return index;
  };

  async function record(jobId: JobId): Promise<JobRecord> {
    const found = await store.get(jobId);
    if (found === undefined) throw new Error(`${jobId} is not recorded`);
    return found;
  }

  return {
    store,
    done,
    record,

    /** A job that is driven by "instance/incarnation", in any state. */
    async add(driver: string, parts: Partial<JobRecord> = {}): Promise<JobRecord> {
      const admitted = await store.admit(draftJob(clock.now(), parts));
      if (admitted.kind !== 'admitted') throw new Error(`a job was not admitted: ${admitted.kind}`);
      const { jobId, deadlineAt } = admitted.job;
      drivers.set(jobId, driver);
      indexOf(instanceOf(driver)).set(jobId, { jobId, deadlineAt });
      return admitted.job;
    },

    async settle(jobId: JobId): Promise<void> {
      const { state, fence } = await record(jobId);
      const entry = { state: 'FAILED', at: clock.now(), attempt: 0 } as const;
      await store.move(jobId, { state, fenceAttempt: fence?.attempt ?? 0 }, { state: 'FAILED', entry });
    },

    /** Puts the job into an index, independent of its driver. */
    index: (instanceId: string, { jobId, deadlineAt }: IndexedJob): void =>
      void indexOf(instanceId).set(jobId, { jobId, deadlineAt }),
    drivenIn: (instanceId: string): readonly JobId[] => [...indexOf(instanceId).keys()],
    driver: (jobId: JobId): string | undefined => drivers.get(jobId),
    assign: (jobId: JobId, driver: string): void => void drivers.set(jobId, driver),

    async driverOf(jobId: JobId): Promise<{ driver: string; isSettled: boolean } | undefined> {
      const [job, driver] = [await store.get(jobId), drivers.get(jobId)];
      return job === undefined || driver === undefined
        ? undefined
        : { driver, isSettled: isSettled(job.state) };
    },

    /** The takeover store of the instance "instance/incarnation". */
    takeoverStoreOf: (successor: () => string): TakeoverStore => ({
      async drivenBy(instanceId, limit) {
        done.push(`jobs of ${instanceId}`);
        return [...indexOf(instanceId).values()].slice(0, limit);
      },
      async takeOver({ jobId, deadlineAt }, from) {
        const to = successor();
        indexOf(instanceOf(to)).set(jobId, { jobId, deadlineAt });
        const job = await store.get(jobId);
        const driver = drivers.get(jobId) ?? '';
        const isTheirs =
          instanceOf(driver) === from.instanceId && driver !== `${from.instanceId}/${from.livingIncarnation}`;
        if (job !== undefined && !isSettled(job.state) && driver !== to && !isTheirs)
          return { kind: 'driven' };
        if (from.instanceId !== instanceOf(to)) indexOf(from.instanceId).delete(jobId);
        if (job === undefined) return { kind: 'unknown_job' };
        if (isSettled(job.state)) return { kind: 'settled' };
        drivers.set(jobId, to);
        return { kind: 'taken', job };
      },
      async inheritSettled(from) {
        done.push(`settled of ${from}`);
      },
      async forgetIndexes(instanceId) {
        const isEmpty = indexOf(instanceId).size === 0;
        done.push(isEmpty ? `indexes of ${instanceId}` : `indexes of ${instanceId} kept`);
        return isEmpty;
      },
    }),
  };
}

export type SharedJobs = ReturnType<typeof createSharedJobs>;
