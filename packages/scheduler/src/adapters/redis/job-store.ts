/**
 * Hot path: job records and request bindings of all instances, in Redis.
 *
 * A job and its binding are one record in one slot, so that every call is one script. What limits say is counted on
 * this instance and not in Redis; there everything ends by itself. A thrown error means *unknown*.
 */
import { SchedulerError } from '../../domain/errors.ts';
import type { JobId, TenantId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { JobChange } from '../../domain/job-change.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AdmitResult, Expected, JobQuery, JobStore, MoveResult } from '../../ports/job-store.ts';
import { asDependency } from './dependency.ts';
import { type Admitted, createAdmitJob } from './job-store/admit-job.ts';
import { createDiscardJob } from './job-store/discard-job.ts';
import { createDropJob } from './job-store/drop-job.ts';
import { createFindBoundJob } from './job-store/find-bound-job.ts';
import { fitResult } from './job-store/fit-result.ts';
import { createIndexJobs } from './job-store/index-jobs.ts';
import { createJobIndex } from './job-store/job-index.ts';
import { createJobTally } from './job-store/job-tally.ts';
import { createKnownJobs } from './job-store/known-jobs.ts';
import { listJobs, type Position } from './job-store/list-jobs.ts';
import { createMoveJob } from './job-store/move-job.ts';
import { indexesOf, readDriven } from './job-store/read-index.ts';
import { jobFromFields } from './job-store/record-fields.ts';
import { createShelveJob } from './job-store/shelve-job.ts';
import { createTakeOverJob } from './job-store/take-over-job.ts';
import { createUnbindJob } from './job-store/unbind-job.ts';
import { createWatchJob } from './job-store/watch-job.ts';
import { jobTag, type Keys, requestTag } from './keys.ts';
import type { RedisConnection } from './redis-connection.ts';

export interface JobStoreLimits {
  /** How long a FINISHED job stays bound to its request. */
  readonly bindingLeaseMs: number;
  readonly retentionMs: number;
  /** Settled by this instance, as are the bytes. */
  readonly maxRetained: number;
  readonly maxRetainedBytes: number;
  /** Admitted by this instance, as are the bindings. */
  readonly maxInflight: number;
  readonly maxBindings: number;
  /** Longest speech that stays with its result. */
  readonly resultInlineMaxBytes: number;
  /** How long a record that nobody settles outlives its deadline: for clocks that differ, and for whoever adopts it. */
  readonly liveMarginMs: number;
}

/** What instances need of one another's jobs, beyond the port. */
export interface RedisJobStore extends JobStore {
  /** From now on moves of the job are told to this instance. Its record, unless it is unknown or still that revision. */
  watch(jobId: JobId, revision: number): Promise<{ record: JobRecord; revision: number } | undefined>;
  /** Who watched the job when it became this record, which must be the very object that `move` gave out. */
  watchersOf(record: JobRecord): readonly string[];
  /** Admitted or taken over here, and not known to have ended. */
  drives(jobId: JobId): boolean;
  /** Jobs another instance drives, by what its index says: some may be settled or gone. Next deadlines first. */
  drivenBy(instanceId: string, limit: number): Promise<readonly Position[]>;
  /** Drives a job of `drivenBy` from now on. `from`: "instance/incarnation" that is gone. Safe to repeat. */
  takeOver(
    job: Position,
    from: string,
  ): Promise<{ kind: 'taken'; job: JobRecord } | { kind: 'settled' | 'driven' | 'unknown_job' }>;
  /** How full it is, as this instance counts. */
  levels(): { readonly bindings: number; readonly retained: number; readonly retainedBytes: number };
  /** Writes what the indexes still lack. */
  close(): Promise<void>;
}

/** Each time the request was bound and unbound again by others in between; then something is wrong. */
const MOST_TRIES = 10;

export function createJobStore(
  deps: {
    connection: RedisConnection;
    keys: Keys;
    clock: Clock;
    /** As job ids are made with. */
    digest: (text: string) => string;
    instanceId: string;
    incarnation: string;
  } & JobStoreLimits,
): RedisJobStore {
  const { connection, keys, instanceId } = deps;
  const driver = `${instanceId}/${deps.incarnation}`;
  const scripts = {
    admit: createAdmitJob(connection, keys),
    shelve: createShelveJob(connection, keys),
    move: createMoveJob(connection, keys, deps),
    discard: createDiscardJob(connection, keys),
    findBound: createFindBoundJob(connection, keys),
    unbind: createUnbindJob(connection, keys),
    drop: createDropJob(connection, keys),
    watch: createWatchJob(connection, keys, instanceId),
    takeOver: createTakeOverJob(connection, keys),
  };
  const index = createJobIndex({
    clock: deps.clock,
    write: createIndexJobs(connection, keys, instanceId, deps),
  });
  const tally = createJobTally(deps);
  const known = createKnownJobs({ maxKnown: deps.maxInflight });
  const watchers = new WeakMap<JobRecord, readonly string[]>();

  async function read(key: string, jobId: JobId): Promise<JobRecord | undefined> {
    const fields = await connection.hgetall(key);
    return fields.id === jobId ? jobFromFields(Object.entries(fields).flat()).record : undefined;
  }

  const get = (jobId: JobId): Promise<JobRecord | undefined> =>
    asDependency('reading a job', async () => {
      const tag = jobTag(jobId);
      const current = await read(keys.job(tag), jobId);
      if (current !== undefined || tag === jobId) return current;
      return read(keys.earlierJob(tag, jobId), jobId);
    });

  const bound = async (tenantId: TenantId, requestId: string): Promise<JobRecord | undefined> =>
    (await scripts.findBound(requestTag(deps.digest, tenantId, requestId)))?.record;

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
      const admitted = await scripts.admit(draft, { driver, liveMarginMs: deps.liveMarginMs });
      if (admitted.kind !== 'over') return admitted;
      await scripts.shelve(admitted.jobId);
    }
    throw new Error(`request of ${draft.jobId} was never free`);
  }

  /** What a record that is settled means for what is counted here. */
  function settled(record: JobRecord, bytes: number): void {
    const hasFailed = record.state === 'FAILED' || record.failure !== undefined;
    const isBound = record.requestId !== undefined && !hasFailed;
    const gone = tally.settle(record.jobId, { bytes, isBound });
    if (gone === undefined) return;
    index.end(record.jobId, record.deadlineAt);
    for (const jobId of gone) {
      index.drop(jobId);
      // One that stays, because Redis does not answer, ends with its time.
      scripts.drop(jobId).catch(() => {});
    }
  }

  return {
    async admit(draft: JobRecord): Promise<AdmitResult> {
      checkName(draft);
      const claim = tally.claim(draft);
      if (claim.kind === 'full') return found(draft);
      const isNew = claim.kind === 'claimed';
      try {
        // Both before the answer, and so before the job leaves: whoever adopts finds every job that was accepted.
        const [admitted] = await asDependency('admitting a job', () =>
          Promise.all([
            write(draft),
            index.begin(draft.jobId, draft.deadlineAt),
            isNew && claim.unbind !== undefined ? scripts.unbind(claim.unbind) : undefined,
          ]),
        );
        if (admitted.kind === 'admitted') {
          known.note(draft, draft.timeline.length);
          return { kind: 'admitted', job: draft };
        }
        const { record } = admitted.stored;
        if (isNew) tally.leave(draft.jobId);
        if (record.jobId !== draft.jobId) index.drop(draft.jobId);
        return existing(draft, record);
      } catch (fault) {
        if (isNew) tally.leave(draft.jobId);
        throw fault;
      }
    },

    async move(jobId: JobId, expected: Expected, change: JobChange): Promise<MoveResult> {
      const fitting = fitted(change, deps.resultInlineMaxBytes);
      const moved = await scripts.move(jobId, expected, fitting, known.get(jobId));
      if (moved.kind === 'unknown_job') {
        known.forget(jobId);
        tally.leave(jobId);
        return moved;
      }
      const { kind, record, revision } = moved;
      if (moved.watchers.length > 0) watchers.set(record, moved.watchers);
      if (record.state === 'RELEASED') known.forget(jobId);
      else known.note(record, revision);
      if (isSettled(record.state)) {
        if (kind === 'moved') settled(record, moved.bytes);
        else tally.leave(jobId);
      }
      return { kind, job: record };
    },

    async discard(jobId: JobId): Promise<void> {
      if ((await scripts.discard(jobId)) === 'kept') return;
      known.forget(jobId);
      tally.leave(jobId);
      index.drop(jobId);
    },

    get,
    bound,

    list: (query: JobQuery) =>
      asDependency('listing jobs', async () => {
        const others = await connection.smembers(keys.instances);
        const instanceIds = [...new Set([instanceId, ...others])];
        return listJobs(indexesOf(connection, keys, instanceIds), get, query);
      }),

    watch: scripts.watch,
    watchersOf: (record) => watchers.get(record) ?? NOBODY,
    drives: (jobId) => tally.isInFlight(jobId),

    drivenBy: (each, limit) =>
      asDependency('reading the jobs of an instance', () => readDriven(connection, keys, each, limit)),

    async takeOver({ jobId, deadlineAt }, from) {
      await index.begin(jobId, deadlineAt);
      const taken = await scripts.takeOver(jobId, from, driver);
      if (taken.kind !== 'taken') {
        if (taken.kind === 'settled') index.end(jobId, deadlineAt);
        else index.drop(jobId);
        return taken;
      }
      const { record, revision } = taken.stored;
      tally.adopt(record);
      known.note(record, revision);
      return { kind: 'taken', job: record };
    },

    levels: tally.levels,
    close: index.close,
  };
}

const NOBODY: readonly string[] = [];

const existing = (draft: JobRecord, job: JobRecord): AdmitResult => ({
  kind: job.fingerprint === draft.fingerprint ? 'existing' : 'conflict',
  job,
});

function fitted(change: JobChange, inlineMaxBytes: number): JobChange {
  if (change.result === undefined) return change;
  const result = fitResult(change.result, inlineMaxBytes);
  return result === change.result ? change : { ...change, result };
}
