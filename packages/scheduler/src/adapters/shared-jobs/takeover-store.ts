/** Cold path: jobs that change their driver, records that a failover lost, and what an instance that is gone leaves in its indexes. */

import { instanceOf } from '../../domain/driver-name.ts';
import type { JobId } from '../../domain/ids.ts';
import { isSettled, type JobRecord, type TimelineEntry } from '../../domain/job.ts';
import type { Clock } from '../../ports/clock.ts';
import type { FormerDrivers } from './former-drivers.ts';
import type { JobIndex } from './job-index.ts';
import type { FormerDriver, IndexScripts, RecordScripts, Restored, TimeLeft } from './job-scripts.ts';
import type { JobTally } from './job-tally.ts';
import type { KnownJobs } from './known-jobs.ts';
import { deadlineOf, lifeOf } from './life-of.ts';
import type { Position } from './list-jobs.ts';
import type { OwedMoves } from './owed-moves.ts';

export interface JobTakeovers {
  /** Who drives the job, or drove it when it was settled. */
  driverOf(jobId: JobId): Promise<{ readonly driver: string; readonly isSettled: boolean } | undefined>;
  /** Jobs another instance drives, by what its index says: some may be settled or gone. Next deadlines first. */
  drivenBy(instanceId: string, limit: number): Promise<readonly Position[]>;
  /**
   * Drives a job from now on that `from` drove, and takes it off that one's index: one of `drivenBy`, or one that a repeat of its
   * request found. Of several who try, one gets it. Safe to repeat.
   */
  takeOver(
    job: Position,
    from: FormerDriver,
  ): Promise<{ kind: 'taken'; job: JobRecord } | { kind: 'settled' | 'driven' | 'unknown_job' }>;
  /**
   * Writes a job that is driven here as `job` says, if its record was lost or is behind that; a record that is further is kept.
   * `driven_elsewhere`: it is another's by now, or its request has another job. Only for records as `admit`, `move` and `takeOver` gave them out.
   */
  restore(job: JobRecord): Promise<'restored' | 'kept' | 'driven_elsewhere'>;
  /** From now on lists show through this instance what the other one settled. Safe to repeat. */
  inheritSettled(from: string): Promise<void>;
  /** Removes the indexes of an instance that is gone. False, and nothing changes, while a job of it is to be taken over. */
  forgetIndexes(instanceId: string): Promise<boolean>;
}

/** As many as go into one write of the index. */
const PAGE = 128;
/** Each time the request was bound and unbound again by others in between; then something is wrong. */
const MOST_TRIES = 10;

interface RestoreLimits {
  readonly retentionMs: number;
  readonly bindingLeaseMs: number;
  readonly liveMarginMs: number;
}

export function createJobTakeovers(
  deps: {
    scripts: RecordScripts;
    indexes: IndexScripts;
    clock: Clock;
    instanceId: string;
    driver: () => string;
    index: JobIndex;
    tally: JobTally;
    known: KnownJobs;
    owed: Pick<OwedMoves, 'forget'>;
    formers: FormerDrivers;
    maxRetained: number;
  } & RestoreLimits,
): JobTakeovers {
  const { scripts, indexes, index, tally, known, owed, formers } = deps;

  /** The index of an instance names what any incarnation of it drives: another one's jobs must not be taken off it. */
  function dropUnlessOurs(jobId: JobId, driver?: string): void {
    if (driver === undefined || instanceOf(driver) !== deps.instanceId) index.drop(jobId);
  }

  /** The job may have moved on since somebody took down its record. */
  function newest(job: JobRecord): JobRecord {
    const seen = known.get(job.jobId)?.record;
    return seen !== undefined && hasPassed(seen, job) ? seen : job;
  }

  /** Entries that were ever written. The record itself does not say once it has lost its middle. */
  function revisionOf(job: JobRecord): number {
    const seen = known.get(job.jobId);
    return seen !== undefined && endsAlike(seen.record, job) ? seen.revision : job.timeline.length;
  }

  async function writeAnew(job: JobRecord): Promise<Exclude<Restored, { kind: 'over' }>> {
    const left = isSettled(job.state) ? leftOf(job, deps.clock.now(), deps) : undefined;
    const by = {
      driver: deps.driver(),
      former: formers.get(job.jobId),
      revision: revisionOf(job),
      lifeMs: lifeOf(job, deps),
      left,
    };
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const restored = await scripts.restore(job, by);
      if (restored.kind === 'restored' && newest(job) === job) known.note(job, by.revision);
      if (restored.kind !== 'over') return restored;
      await scripts.shelve(restored.jobId);
    }
    throw new Error(`request of ${job.jobId} was never free`);
  }

  return {
    driverOf: scripts.driverOf,
    drivenBy: indexes.driven,

    async takeOver({ jobId, deadlineAt }, from) {
      // First here, then off the other's index: at no time is a job in neither.
      await index.begin(jobId, deadlineAt);
      const driver = deps.driver();
      // Then it went to a life that is over: whoever takes over from that one, this instance perhaps, finds it in its index.
      const hasEnded = (): boolean => deps.driver() !== driver;
      const taken = await scripts.takeOver(jobId, from, driver);
      if (taken.kind === 'taken') {
        if (hasEnded()) return { kind: 'driven' };
        const { stored, lifeMs, former } = taken;
        const record = { ...stored.record, deadlineAt: deadlineOf(stored.record, lifeMs, deps) };
        // Asked again, it may have been taken before, and have moved on here since: then what is known and owed of it is further.
        if (former !== driver || !tally.isInFlight(jobId)) {
          owed.forget(jobId);
          if (former !== driver) formers.note(jobId, former);
          tally.adopt(record);
          known.note(record, stored.revision);
        }
        // By another clock it could be over, and swept off.
        if (record.deadlineAt !== deadlineAt) await index.begin(jobId, record.deadlineAt);
        if (from.instanceId !== deps.instanceId) await indexes.leave(from.instanceId, jobId);
        return hasEnded() ? { kind: 'driven' } : { kind: 'taken', job: record };
      }
      if (taken.kind === 'settled') index.end(jobId, deadlineAt);
      else dropUnlessOurs(jobId, taken.kind === 'driven' ? taken.driver : undefined);
      const isStillTheirs = taken.kind === 'driven' && instanceOf(taken.driver) === from.instanceId;
      if (from.instanceId !== deps.instanceId && !isStillTheirs) await indexes.leave(from.instanceId, jobId);
      return { kind: taken.kind };
    },

    async restore(given) {
      const job = newest(given);
      const { jobId, deadlineAt } = job;
      const isOver = isSettled(job.state);
      // Before the store is asked: the job may end meanwhile, or become another's, and is not driven here from then on.
      if (!isOver) tally.adopt(job);
      const [restored] = await Promise.all([
        writeAnew(job),
        isOver ? undefined : index.begin(jobId, deadlineAt),
      ]);
      if (restored.kind === 'restored' || restored.kind === 'kept') {
        if (isOver) index.end(jobId, deadlineAt);
        return restored.kind;
      }
      known.forget(jobId);
      tally.leave(jobId);
      dropUnlessOurs(jobId, restored.kind === 'driven_elsewhere' ? restored.driver : undefined);
      return 'driven_elsewhere';
    },

    async inheritSettled(from) {
      for (let skip = 0; skip < deps.maxRetained; skip += PAGE) {
        const page = await indexes.settled(from, skip, PAGE);
        for (const { jobId, deadlineAt } of page) index.end(jobId, deadlineAt);
        await index.flush();
        if (page.length < PAGE) return;
      }
    },

    forgetIndexes: indexes.forget,
  };
}

/** What is left of a settled job's time: being written again makes no job younger. */
function leftOf(
  { timeline, failure, state }: JobRecord,
  now: number,
  { retentionMs, bindingLeaseMs }: RestoreLimits,
): TimeLeft {
  const settledAt = timeline.findLast((entry) => entry.state === 'FINISHED' || entry.state === 'FAILED')?.at;
  const age = Math.max(0, now - (settledAt ?? now));
  const hasFailed = state === 'FAILED' || failure !== undefined;
  return {
    // 0 would say that it lives.
    retentionMs: Math.max(1, retentionMs - age),
    leaseMs: hasFailed ? 0 : Math.max(0, bindingLeaseMs - age),
  };
}

const endsAlike = ({ timeline: one }: JobRecord, { timeline: other }: JobRecord): boolean =>
  one.length === other.length && isSameEntry(one.at(-1), other.at(-1));

/** It was once where the other one is. */
const hasPassed = ({ timeline }: JobRecord, { timeline: other }: JobRecord): boolean =>
  !isSameEntry(timeline.at(-1), other.at(-1)) && timeline.some((entry) => isSameEntry(entry, other.at(-1)));

const isSameEntry = (a: TimelineEntry | undefined, b: TimelineEntry | undefined): boolean =>
  a?.state === b?.state && a?.at === b?.at && a?.attempt === b?.attempt;
