/**
 * Hot path: job records and request bindings of all instances, in a store that they share, whatever it is made of.
 *
 * A job and its binding are one record, so that every call is one script. A record names its driver, and only in
 * that one's name can it be moved. What limits say is counted on this instance and not in the store; there everything ends by itself.
 * A thrown error means *unknown*.
 */
import { isUnsent, SchedulerError } from '../../domain/errors.ts';
import type { JobId, TenantId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { JobChange } from '../../domain/job-change.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AdmitResult, Expected, JobQuery, JobStore, MoveResult } from '../../ports/job-store.ts';
import { createFormerDrivers } from './former-drivers.ts';
import { createJobIndex } from './job-index.ts';
import { createJobMoves } from './job-moves.ts';
import type { Admitted, IndexScripts, RecordScripts, StoredJob } from './job-scripts.ts';
import { jobTag, requestTag } from './job-tag.ts';
import { createJobTally, type TallyLimits } from './job-tally.ts';
import { createKnownJobs } from './known-jobs.ts';
import { lifeOf } from './life-of.ts';
import { listJobs } from './list-jobs.ts';
import { createJobTakeovers, type JobTakeovers } from './takeover-store.ts';

export interface JobStoreLimits extends TallyLimits {
  /** Longest speech that stays with its result. */
  readonly resultInlineMaxBytes: number;
}

/** What instances need of one another's jobs, beyond the port. */
export interface BookedJobStore extends JobStore, JobTakeovers {
  /**
   * Moves a job in the name of who drives it, as the holder of a node's socket does when the job has left. What is counted and
   * indexed here stays as it is: the job is the driver's.
   */
  moveFor(driver: string, jobId: JobId, expected: Expected, change: JobChange): Promise<MoveResult>;
  restore: JobTakeovers['restore'];
  /** From now on moves of the job are told to this instance. Its record, unless it is unknown or still that revision. */
  watch(jobId: JobId, revision: number): Promise<{ record: JobRecord; revision: number } | undefined>;
  /** Who watched the job when it became this record, which must be the very object that `move` gave out. */
  watchersOf(record: JobRecord): readonly string[];
  /** Hears of moves that were answered before they were written, and that somebody elsewhere waits for. */
  onWritten(listen: (job: JobRecord) => void): void;
  /** Admitted or taken over here, by this incarnation, and not known to have ended. */
  drives(jobId: JobId): boolean;
  /** How full it is, as this instance counts. */
  levels(): { readonly bindings: number; readonly retained: number; readonly retainedBytes: number };
  /** Writes what is still owed, to records and to indexes. */
  close(): Promise<void>;
}

/** Each time the request was bound and unbound again by others in between; then something is wrong. */
const MOST_TRIES = 10;

/** Whose jobs they are. */
export interface JobStoreOwner {
  readonly clock: Clock;
  /** As job ids are made with. */
  readonly digest: (text: string) => string;
  readonly instanceId: string;
  /** "instance/incarnation". Asked every time: who was taken for dead goes on as another incarnation. */
  readonly driver: () => string;
  /** The speech of a result was too long to be kept with it. */
  readonly onAudioDropped?: () => void;
}

export function createJobStore(
  deps: {
    scripts: RecordScripts;
    indexes: IndexScripts;
    /** Resolves when whatever happens now has happened: until then what begins is gathered. */
    endOfTurn: () => Promise<void>;
  } & JobStoreOwner &
    JobStoreLimits,
): BookedJobStore {
  const { scripts, indexes } = deps;
  const index = createJobIndex({ ...deps, write: indexes.note });
  const tally = createJobTally(deps);
  const known = createKnownJobs({ maxKnown: deps.maxInflight });
  const formers = createFormerDrivers({ maxFormer: deps.maxInflight });
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
  const { owed } = moves;
  const takeover: JobTakeovers = createJobTakeovers({ ...deps, driver, index, tally, known, owed, formers });
  let counted = deps.driver();

  /** What an earlier incarnation drove is not driven by this one, unless it takes it over. */
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

  /** What is owed, or was while this was read, is not in it. */
  function newest({ record, revision }: StoredJob): JobRecord {
    const seen = known.get(record.jobId);
    return seen !== undefined && seen.revision > revision && drives(record.jobId) ? seen.record : record;
  }

  async function get(jobId: JobId): Promise<JobRecord | undefined> {
    const stored = await scripts.read(jobId);
    return stored && newest(stored);
  }

  async function bound(tenantId: TenantId, requestId: string): Promise<JobRecord | undefined> {
    const found = await scripts.findBound(requestTag(deps.digest, tenantId, requestId));
    return found && newest(found);
  }

  /** Another name would be found by its id and not by its request: two jobs for one request. */
  function checkName({ jobId, tenantId, requestId }: JobRecord): void {
    if (requestId === undefined || jobTag(jobId) === requestTag(deps.digest, tenantId, requestId)) return;
    throw new SchedulerError('INTERNAL_ERROR', `job ${jobId} is not named after its request`);
  }

  /** At a limit nothing is written, but a repeat still finds its job. */
  async function found(draft: JobRecord): Promise<AdmitResult> {
    const { tenantId, requestId } = draft;
    const job = requestId === undefined ? await get(draft.jobId) : await bound(tenantId, requestId);
    return job === undefined ? { kind: 'full' } : existing(draft, job);
  }

  async function write(draft: JobRecord): Promise<Exclude<Admitted, { kind: 'over' }>> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const admitted = await scripts.admit(draft, { driver: driver(), lifeMs: lifeOf(draft, deps) });
      if (admitted.kind !== 'over') return admitted;
      await scripts.shelve(admitted.jobId);
    }
    throw new Error(`request of ${draft.jobId} was never free`);
  }

  return {
    async admit(draft: JobRecord): Promise<AdmitResult> {
      checkName(draft);
      const claim = tally.claim(draft);
      if (claim.kind === 'full') return found(draft);
      const isNew = claim.kind === 'claimed';
      let isUnwritten = false;
      const writing = write(draft).catch((fault: unknown) => {
        isUnwritten = isUnsent(fault);
        throw fault;
      });
      try {
        // Both before the answer, and so before the job leaves: whoever adopts finds every job that was accepted.
        const [admitted] = await Promise.all([
          writing,
          index.begin(draft.jobId, draft.deadlineAt),
          isNew && claim.unbind !== undefined ? scripts.unbind(claim.unbind) : undefined,
        ]);
        if (admitted.kind === 'admitted') {
          known.note(draft, draft.timeline.length);
          return { kind: 'admitted', job: draft };
        }
        const record = newest(admitted.stored);
        if (isNew) tally.leave(draft.jobId);
        if (record.jobId !== draft.jobId) index.drop(draft.jobId);
        return existing(draft, record);
      } catch (fault) {
        if (isNew) tally.leave(draft.jobId);
        if (isUnwritten) index.drop(draft.jobId);
        // That the index was not asked says nothing of the record.
        if (isUnwritten || !isUnsent(fault)) throw fault;
        throw new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', 'a job could not be indexed', { cause: fault });
      }
    },

    move: (jobId: JobId, expected: Expected, change: JobChange, when: 'now' | 'soon' = 'now') =>
      moves.move(driver(), jobId, expected, change, when),
    moveFor: moves.moveFor,

    async discard(jobId: JobId) {
      await owed.flush(jobId);
      const discarded = await scripts.discard(jobId, driver());
      if (discarded === 'kept') return discarded;
      known.forget(jobId);
      tally.leave(jobId);
      if (discarded === 'driven_elsewhere') return discarded;
      index.drop(jobId);
      return 'discarded';
    },

    get,
    bound,

    // Of all instances that are not yet adopted; what others settled is shown through whoever inherited it.
    list: async (query: JobQuery) => listJobs(await indexes.all(), get, query),

    watch: scripts.watch,
    watchersOf: moves.watchersOf,
    onWritten: moves.onWritten,
    drives,

    ...takeover,
    levels: tally.levels,
    async close() {
      await owed.flush();
      await index.flush();
    },
  };
}

const existing = (draft: JobRecord, job: JobRecord): AdmitResult => ({
  kind: job.fingerprint === draft.fingerprint ? 'existing' : 'conflict',
  job,
});
