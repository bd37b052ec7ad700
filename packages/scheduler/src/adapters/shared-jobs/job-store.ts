/**
 * Hot path: job records and request bindings of all instances, in a store that they share: Redis, or the simulated one.
 *
 * A job and its binding are one record, so that every call is one script. A record names its driver, and only the driver can move
 * it. This instance counts its own jobs for the limits; in the store every record has an expiry. A thrown error means *unknown*.
 */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import { eraseTexts } from '../../domain/erased-job.ts';
import { isUnsent, SchedulerError } from '../../domain/errors.ts';
import type { JobId, TenantId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { JobChange } from '../../domain/job-change.ts';
import type { UsageSink } from '../../domain/usage.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AdmitResult, Expected, JobQuery, JobStore } from '../../ports/job-store.ts';
import { createJobIndex } from './job-index.ts';
import { createJobMoves } from './job-moves.ts';
import {
  type Admitted,
  type IndexScripts,
  jobTag,
  type KnownJob,
  type RecordScripts,
  requestTag,
} from './job-scripts.ts';
import { createJobTally, type TallyLimits } from './job-tally.ts';
import { listJobs } from './list-jobs.ts';
import { ttlOf } from './record-ttl.ts';
import { createJobTakeovers, type JobTakeovers } from './takeover-store.ts';

export interface JobStoreLimits extends TallyLimits {
  /** Longest speech that is stored with its result. */
  readonly resultInlineMaxBytes: number;
}

/** What instances need beyond the port to share jobs. */
export interface SharedJobStore extends JobStore, JobTakeovers {
  restore: JobTakeovers['restore'];
  /** From now on this instance gets notices of the job's moves. Its record, unless it is unknown or still has that revision. */
  watch(jobId: JobId, revision: number): Promise<{ record: JobRecord; revision: number } | undefined>;
  /** Instances that watched the job when `move` returned this record object. */
  watchersOf(record: JobRecord): readonly string[];
  /** Admitted or taken over by this incarnation, and not known to have ended. */
  drives(jobId: JobId): boolean;
  /** How many records of this instance the store holds. */
  levels(): { readonly bindings: number; readonly retained: number; readonly retainedBytes: number };
  /** Writes the index changes that are still waiting. */
  close(): Promise<void>;
}

/** A further try means that other instances bound and unbound the request in between; more than this is a fault. */
const MOST_TRIES = 10;

/** The instance that uses the store. */
export interface JobStoreOwner {
  readonly clock: Clock;
  /** The digest that job ids are made with. */
  readonly digest: (text: string) => string;
  readonly instanceId: string;
  /** "instance/incarnation". Read at every call: an instance that was declared dead continues as a new incarnation. */
  readonly driver: () => string;
  /** Absent: nothing is counted. */
  readonly usage?: UsageSink;
  /** The speech of a result was too long to be stored with it. */
  readonly onAudioDropped?: () => void;
}

export function createJobStore(
  deps: {
    scripts: RecordScripts;
    indexes: IndexScripts;
    /** Resolves at the end of the event loop's turn: jobs that begin until then are indexed together. */
    endOfTurn: () => Promise<void>;
  } & JobStoreOwner &
    JobStoreLimits,
): SharedJobStore {
  const { scripts, indexes } = deps;
  const index = createJobIndex({ ...deps, write: indexes.note });
  const tally = createJobTally(deps);
  /** A dropped record only costs one longer answer. */
  const known = createBoundedMap<JobId, KnownJob>({ max: deps.maxInflight });
  /** Former drivers of the jobs that this incarnation took over: a store that lost a takeover still names the former driver. */
  const formers = createBoundedMap<JobId, string>({ max: deps.maxInflight });
  const moves = createJobMoves({
    ...deps,
    known,
    tally,
    index,
    write: scripts.move,
    drop: scripts.drop,
    isTakenOver: (jobId) => formers.get(jobId) !== undefined,
    restore: (job) => takeover.restore(job),
  });
  const takeover: JobTakeovers = createJobTakeovers({ ...deps, driver, index, tally, known, formers });
  let counted = deps.driver();

  /** This incarnation drives a job of an earlier one only after it has taken it over. */
  function driver(): string {
    const name = deps.driver();
    if (name !== counted) {
      tally.leaveAll();
      formers.clear();
    }
    counted = name;
    return name;
  }

  function drives(jobId: JobId): boolean {
    driver();
    return tally.isInFlight(jobId);
  }

  async function get(jobId: JobId): Promise<JobRecord | undefined> {
    return (await scripts.read(jobId))?.record;
  }

  async function bound(tenantId: TenantId, requestId: string): Promise<JobRecord | undefined> {
    return (await scripts.findBound(requestTag(deps.digest, tenantId, requestId)))?.record;
  }

  /** With another name, a request could not find its job: it would get a second one. */
  function checkName({ jobId, tenantId, requestId }: JobRecord): void {
    if (requestId === undefined || jobTag(jobId) === requestTag(deps.digest, tenantId, requestId)) return;
    throw new SchedulerError('INTERNAL_ERROR', `job ${jobId} is not named after its request`);
  }

  /** At a limit nothing is written, but a repeated request still finds its job. */
  async function found(draft: JobRecord, full: AdmitResult): Promise<AdmitResult> {
    const { tenantId, requestId } = draft;
    const job = requestId === undefined ? await get(draft.jobId) : await bound(tenantId, requestId);
    return job === undefined ? full : existing(draft, job);
  }

  async function write(draft: JobRecord): Promise<Exclude<Admitted, { kind: 'over' }>> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const admitted = await scripts.admit(draft, { driver: driver(), ttlMs: ttlOf(draft, deps) });
      if (admitted.kind !== 'over') return admitted;
      await scripts.shelve(admitted.jobId);
    }
    throw new Error(`request of ${draft.jobId} was never free`);
  }

  return {
    async admit(draft: JobRecord): Promise<AdmitResult> {
      checkName(draft);
      const claim = tally.claim(draft);
      if (claim.kind === 'full') return found(draft, claim);
      const isNew = claim.kind === 'claimed';
      let isUnwritten = false;
      const writing = write(draft).catch((fault: unknown) => {
        isUnwritten = isUnsent(fault);
        throw fault;
      });
      try {
        // Both are written before the job is sent, so that a takeover finds every job that was accepted.
        const [admitted] = await Promise.all([
          writing,
          index.begin(draft.jobId, draft.deadlineAt),
          isNew && claim.unbind !== undefined ? scripts.unbind(claim.unbind) : undefined,
        ]);
        if (admitted.kind === 'admitted') {
          known.set(draft.jobId, { record: draft, revision: draft.timeline.length });
          return { kind: 'admitted', job: draft };
        }
        const { record } = admitted.stored;
        if (isNew) tally.leave(draft.jobId);
        if (record.jobId !== draft.jobId) index.drop(draft.jobId);
        return existing(draft, record);
      } catch (fault) {
        if (isNew) tally.leave(draft.jobId);
        if (isUnwritten) index.drop(draft.jobId);
        // The index write was not sent, but the record may have been written.
        if (isUnwritten || !isUnsent(fault)) throw fault;
        throw new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', 'a job could not be indexed', { cause: fault });
      }
    },

    move: (jobId: JobId, expected: Expected, change: JobChange) =>
      moves.move(driver(), jobId, expected, change),

    async discard(jobId: JobId) {
      const discarded = await scripts.discard(jobId, driver());
      if (discarded === 'kept') return discarded;
      known.delete(jobId);
      tally.leave(jobId);
      if (discarded === 'driven_elsewhere') return discarded;
      index.drop(jobId);
      return 'discarded';
    },

    async erase(jobId: JobId) {
      const job = await get(jobId);
      return job === undefined ? 'unknown_job' : scripts.erase(eraseTexts(job));
    },

    get,
    bound,

    // Reads the indexes of all known instances; jobs settled by a dead instance are in the index of its successor.
    list: async (query: JobQuery) => listJobs(await indexes.all(), get, query),

    watch: scripts.watch,
    watchersOf: moves.watchersOf,
    drives,

    ...takeover,
    levels: tally.levels,
    close: index.flush,
  };
}

const existing = (draft: JobRecord, job: JobRecord): AdmitResult => ({
  kind: job.fingerprint === draft.fingerprint ? 'existing' : 'conflict',
  job,
});
