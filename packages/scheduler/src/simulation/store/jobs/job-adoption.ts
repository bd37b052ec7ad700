/** Simulation: jobs that change their driver, records that a failover lost, and what an instance that is gone leaves in its indexes. */
import { instanceOf } from '../../../domain/driver-name.ts';
import type { JobId } from '../../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../../domain/job.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { JobStoreOfMany } from '../../../store-of-many.ts';
import type { Lines } from '../lines.ts';
import type { Shard } from '../shard.ts';
import { jobTag, tags } from '../tags.ts';
import { forgetIndexes, leaveIndex, readIndex } from './index-scripts.ts';
import type { JobIndex } from './job-index.ts';
import { type Restored, readJob, restoreJob, shelveJob, takeOverJob } from './job-scripts.ts';
import type { createJobTally, TallyLimits } from './job-tally.ts';
import type { KnownJobs } from './known-jobs.ts';

/** As many as go into one write of the index. */
const PAGE = 128;
const MOST_TRIES = 10;

export function createJobAdoption(
  deps: {
    lines: Lines;
    clock: Clock;
    instanceId: string;
    driver: () => string;
    index: JobIndex;
    tally: ReturnType<typeof createJobTally>;
    known: KnownJobs;
  } & TallyLimits,
): Pick<
  JobStoreOfMany,
  'driverOf' | 'drivenBy' | 'takeOver' | 'restore' | 'inheritSettled' | 'forgetIndexes'
> {
  const { lines, index, tally, known } = deps;
  const on = <T>(jobId: JobId, what: string, run: (shard: Shard, tag: string) => T): Promise<T> => {
    const tag = jobTag(jobId);
    return lines.ask(tags.job(tag), what, (shard) => run(shard, tag));
  };

  /** The index of an instance names what any incarnation of it drives: another one's jobs must not be taken off it. */
  function dropUnlessOurs(jobId: JobId, driver?: string): void {
    if (driver === undefined || instanceOf(driver) !== deps.instanceId) index.drop(jobId);
  }

  /** Entries that were ever written. The record itself does not say once it has lost its middle. */
  function revisionOf(job: JobRecord): number {
    const seen = known.get(job.jobId);
    return seen !== undefined && endsAlike(seen.record, job) ? seen.revision : job.timeline.length;
  }

  async function writeAnew(job: JobRecord): Promise<Exclude<Restored, { kind: 'over' }>> {
    const left = isSettled(job.state) ? leftOf(job, deps.clock.now(), deps) : undefined;
    const by = { driver: deps.driver(), revision: revisionOf(job), liveMarginMs: deps.liveMarginMs, left };
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const restored = await on(job.jobId, 'restore-job', (shard, tag) => restoreJob(shard, tag, job, by));
      if (restored.kind === 'restored') known.note(job, by.revision);
      if (restored.kind !== 'over') return restored;
      await on(job.jobId, 'shelve-job', (shard, tag) => shelveJob(shard, tag, restored.jobId));
    }
    throw new Error(`request of ${job.jobId} was never free`);
  }

  return {
    async driverOf(jobId) {
      const stored = await on(jobId, 'read-driver', (shard, tag) => readJob(shard, tag, jobId));
      return stored && { driver: stored.driver, isSettled: stored.isSettled };
    },

    drivenBy: (instanceId, limit) =>
      lines.ask(tags.instance(instanceId), 'read-driven', (shard) =>
        [...readIndex(shard, instanceId, 'driven')].reverse().slice(0, limit),
      ),

    async takeOver({ jobId, deadlineAt }, from) {
      // First here, then off the other's index: at no time is a job in neither.
      await index.begin(jobId, deadlineAt);
      const to = deps.driver();
      const taken = await on(jobId, 'take-over-job', (shard, tag) =>
        takeOverJob(shard, tag, jobId, from, to),
      );
      if (taken.kind === 'taken') {
        tally.adopt(taken.stored.record);
        known.note(taken.stored.record, taken.stored.revision);
      } else if (taken.kind === 'settled') index.end(jobId, deadlineAt);
      else dropUnlessOurs(jobId, taken.kind === 'driven' ? taken.driver : undefined);
      const isStillTheirs = taken.kind === 'driven' && instanceOf(taken.driver) === from.instanceId;
      if (from.instanceId !== deps.instanceId && !isStillTheirs) {
        await lines.ask(tags.instance(from.instanceId), 'leave-index', (shard) =>
          leaveIndex(shard, from.instanceId, jobId),
        );
      }
      return taken.kind === 'taken' ? { kind: 'taken', job: taken.stored.record } : { kind: taken.kind };
    },

    async restore(job) {
      const { jobId, deadlineAt } = job;
      const isOver = isSettled(job.state);
      const [restored] = await Promise.all([
        writeAnew(job),
        isOver ? undefined : index.begin(jobId, deadlineAt),
      ]);
      if (restored.kind === 'restored' || restored.kind === 'kept') {
        if (isOver) index.end(jobId, deadlineAt);
        else tally.adopt(job);
        return restored.kind;
      }
      known.forget(jobId);
      tally.leave(jobId);
      dropUnlessOurs(jobId, restored.kind === 'driven_elsewhere' ? restored.driver : undefined);
      return 'driven_elsewhere';
    },

    async inheritSettled(from) {
      for (let skip = 0; skip < deps.maxRetained; skip += PAGE) {
        const page = await lines.ask(tags.instance(from), 'read-settled', (shard) =>
          readIndex(shard, from, 'settled').slice(skip, skip + PAGE),
        );
        for (const { jobId, deadlineAt } of page) index.end(jobId, deadlineAt);
        await index.flush();
        if (page.length < PAGE) return;
      }
    },

    forgetIndexes: (instanceId) =>
      lines.ask(tags.instance(instanceId), 'forget-indexes', (shard) =>
        forgetIndexes(shard, instanceId, deps.liveMarginMs),
      ),
  };
}

/** What is left of a settled job's time: being written again makes no job younger. */
function leftOf(
  { timeline, failure, state }: JobRecord,
  now: number,
  { retentionMs, bindingLeaseMs }: TallyLimits,
): { retentionMs: number; leaseMs: number } {
  const settledAt = timeline.findLast((entry) => entry.state === 'FINISHED' || entry.state === 'FAILED')?.at;
  const age = Math.max(0, now - (settledAt ?? now));
  const hasFailed = state === 'FAILED' || failure !== undefined;
  return {
    retentionMs: Math.max(1, retentionMs - age),
    leaseMs: hasFailed ? 0 : Math.max(0, bindingLeaseMs - age),
  };
}

function endsAlike({ timeline: one }: JobRecord, { timeline: other }: JobRecord): boolean {
  const [a, b] = [one.at(-1), other.at(-1)];
  return one.length === other.length && a?.state === b?.state && a?.at === b?.at && a?.attempt === b?.attempt;
}
