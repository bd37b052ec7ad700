/** Failure path: jobs that change their driver, records that a failover lost, and the indexes of dead instances. */
import type { BoundedMap } from '../../domain/bounded-map.ts';
import { instanceOf, type JobId } from '../../domain/ids.ts';
import { isSettled, type JobRecord, type TimelineEntry } from '../../domain/job.ts';
import type { UsageSink } from '../../domain/usage.ts';
import type { Clock } from '../../ports/clock.ts';
import type { JobIndex } from './job-index.ts';
import type {
  FormerDriver,
  IndexScripts,
  KnownJob,
  RecordScripts,
  Restored,
  TimeLeft,
} from './job-scripts.ts';
import type { JobTally } from './job-tally.ts';
import type { Position } from './list-jobs.ts';
import { deadlineOf, ttlOf } from './record-ttl.ts';

export interface JobTakeovers {
  /** The driver of the job, or the one that settled it. */
  driverOf(jobId: JobId): Promise<{ readonly driver: string; readonly isSettled: boolean } | undefined>;
  /** Jobs in another instance's index, next deadlines first: some may be settled or removed. */
  drivenBy(instanceId: string, limit: number): Promise<readonly Position[]>;
  /**
   * Makes this instance the driver of a job of `from`, and removes it from that instance's index. If several instances try, one gets
   * the job. Safe to repeat.
   */
  takeOver(
    job: Position,
    from: FormerDriver,
  ): Promise<{ kind: 'taken'; job: JobRecord } | { kind: 'settled' | 'driven' | 'unknown_job' }>;
  /**
   * Writes the record of a job that is driven here, if the stored one was lost or is older; a newer one is kept. `driven_elsewhere`:
   * another instance drives it, or its request has another job. Only for records that `admit`, `move` and `takeOver` returned.
   */
  restore(job: JobRecord): Promise<'restored' | 'kept' | 'driven_elsewhere'>;
  /** Moves the settled jobs of the other instance into the index of this one. Safe to repeat. */
  inheritSettled(from: string): Promise<void>;
  /** Removes the indexes of a dead instance. False, and nothing changes, while one of its jobs has to be taken over. */
  forgetIndexes(instanceId: string): Promise<boolean>;
}

/** Entries per write of the index. */
const PAGE = 128;
/** A further try means that other instances bound and unbound the request in between; more than this is a fault. */
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
    known: BoundedMap<JobId, KnownJob>;
    /** Former drivers of the jobs that this incarnation took over. */
    formers: BoundedMap<JobId, string>;
    usage?: UsageSink | undefined;
    maxRetained: number;
  } & RestoreLimits,
): JobTakeovers {
  const { scripts, indexes, index, tally, known, formers } = deps;

  /** An index has the jobs of all incarnations of an instance: a job of another incarnation stays in it. */
  function dropUnlessOurs(jobId: JobId, driver?: string): void {
    if (driver === undefined || instanceOf(driver) !== deps.instanceId) index.drop(jobId);
  }

  /** The job may have moved after the caller read its record. */
  function newest(job: JobRecord): JobRecord {
    const seen = known.get(job.jobId)?.record;
    return seen !== undefined && hasPassed(seen, job) ? seen : job;
  }

  /** Number of entries that were ever written. It is not the length of the timeline, because a long timeline loses its middle. */
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
      ttlMs: ttlOf(job, deps),
      left,
    };
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const restored = await scripts.restore(job, by);
      if (restored.kind === 'restored' && newest(job) === job)
        known.set(job.jobId, { record: job, revision: by.revision });
      if (restored.kind !== 'over') return restored;
      await scripts.shelve(restored.jobId);
    }
    throw new Error(`request of ${job.jobId} was never free`);
  }

  async function countNow({ tenantId, jobId, usage }: JobRecord): Promise<void> {
    if (usage !== undefined) await deps.usage?.write(tenantId, { jobId, usage });
  }

  return {
    driverOf: scripts.driverOf,
    drivenBy: indexes.driven,

    async takeOver({ jobId, deadlineAt }, from) {
      // Added here before it is removed there, so that the job is always in one of the two indexes.
      await index.begin(jobId, deadlineAt);
      const driver = deps.driver();
      // The incarnation that took the job over has ended: the takeover of that incarnation finds the job in the index.
      const hasEnded = (): boolean => deps.driver() !== driver;
      const taken = await scripts.takeOver(jobId, from, driver);
      if (taken.kind === 'taken') {
        if (hasEnded()) return { kind: 'driven' };
        const { stored, ttlMs, former } = taken;
        const record = { ...stored.record, deadlineAt: deadlineOf(stored.record, ttlMs, deps) };
        // A repeated call may find a job that was taken over before and has moved on here since: then the known record is newer.
        if (former !== driver || !tally.isInFlight(jobId)) {
          if (former !== driver) formers.set(jobId, former);
          tally.addTakenOver(record);
          known.set(jobId, { record, revision: stored.revision });
        }
        // By another clock the deadline may have passed, and the entry would be removed.
        if (record.deadlineAt !== deadlineAt) await index.begin(jobId, record.deadlineAt);
        if (from.instanceId !== deps.instanceId) await indexes.leave(from.instanceId, jobId);
        return hasEnded() ? { kind: 'driven' } : { kind: 'taken', job: record };
      }
      if (taken.kind === 'settled') {
        // Its driver may have died before it counted the job. If this fails, the job stays in that index and is tried again.
        await countNow(taken.record);
        index.end(jobId, deadlineAt);
      } else dropUnlessOurs(jobId, taken.kind === 'driven' ? taken.driver : undefined);
      const isStillTheirs = taken.kind === 'driven' && instanceOf(taken.driver) === from.instanceId;
      if (from.instanceId !== deps.instanceId && !isStillTheirs) await indexes.leave(from.instanceId, jobId);
      return { kind: taken.kind };
    },

    async restore(given) {
      const job = newest(given);
      const { jobId, deadlineAt } = job;
      const isOver = isSettled(job.state);
      // Before the call: while the store answers, the job may be settled or taken over, and then it is no longer counted here.
      if (!isOver) tally.addTakenOver(job);
      const [restored] = await Promise.all([
        writeAnew(job),
        isOver ? undefined : index.begin(jobId, deadlineAt),
      ]);
      if (restored.kind === 'restored' || restored.kind === 'kept') {
        if (isOver) index.end(jobId, deadlineAt);
        return restored.kind;
      }
      known.delete(jobId);
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

/** The rest of a settled job's retention and binding: a restored record is not kept longer. */
function leftOf(
  { timeline, failure, state }: JobRecord,
  now: number,
  { retentionMs, bindingLeaseMs }: RestoreLimits,
): TimeLeft {
  const settledAt = timeline.findLast((entry) => entry.state === 'FINISHED' || entry.state === 'FAILED')?.at;
  const age = Math.max(0, now - (settledAt ?? now));
  const hasFailed = state === 'FAILED' || failure !== undefined;
  return {
    // 0 would mean that the job is live.
    retentionMs: Math.max(1, retentionMs - age),
    leaseMs: hasFailed ? 0 : Math.max(0, bindingLeaseMs - age),
  };
}

const endsAlike = ({ timeline: one }: JobRecord, { timeline: other }: JobRecord): boolean =>
  one.length === other.length && isSameEntry(one.at(-1), other.at(-1));

/** The first record is a later state of the second. */
const hasPassed = ({ timeline }: JobRecord, { timeline: other }: JobRecord): boolean =>
  !isSameEntry(timeline.at(-1), other.at(-1)) && timeline.some((entry) => isSameEntry(entry, other.at(-1)));

const isSameEntry = (a: TimelineEntry | undefined, b: TimelineEntry | undefined): boolean =>
  a?.state === b?.state && a?.at === b?.at && a?.attempt === b?.attempt;
