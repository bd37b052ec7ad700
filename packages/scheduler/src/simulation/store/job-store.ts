/**
 * Simulation: the job store of many instances, as one of them sees it. A job and its binding are one record on one shard; what
 * limits say is counted by the instance; a record names its driver, and only in that one's name can it be moved.
 */

import { isUnsent, SchedulerError } from '../../domain/errors.ts';
import { fitResult } from '../../domain/fit-result.ts';
import type { JobId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import { changeJob, type JobChange } from '../../domain/job-change.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AdmitResult, Expected, MoveResult } from '../../ports/job-store.ts';
import type { JobStoreOfMany, JobStoreUser } from '../../store-of-many.ts';
import { indexJobs } from './jobs/index-scripts.ts';
import { createJobAdoption } from './jobs/job-adoption.ts';
import { createJobIndex } from './jobs/job-index.ts';
import * as scripts from './jobs/job-scripts.ts';
import { createJobTally, type TallyLimits } from './jobs/job-tally.ts';
import { createKnownJobs } from './jobs/known-jobs.ts';
import { listJobs } from './jobs/list-jobs.ts';
import type { Lines } from './lines.ts';
import type { Shard } from './shard.ts';
import type { StoredJob } from './shard-state.ts';
import { jobTag, tags } from './tags.ts';

export interface JobStoreLimits extends TallyLimits {
  readonly resultInlineMaxBytes: number;
}

/** Each time the request was bound and unbound again by others in between; then something is wrong. */
const MOST_TRIES = 10;
const NOBODY: readonly string[] = [];

export function createJobStore(
  deps: { lines: Lines; clock: Clock } & Omit<JobStoreUser, 'onAudioDropped'> &
    Partial<Pick<JobStoreUser, 'onAudioDropped'>> &
    JobStoreLimits,
): JobStoreOfMany {
  const { lines, clock, instanceId } = deps;
  const tally = createJobTally(deps);
  const known = createKnownJobs({ maxKnown: deps.maxInflight });
  const watchers = new WeakMap<JobRecord, readonly string[]>();
  const index = createJobIndex({
    clock,
    write: (changes) =>
      lines.ask(tags.instance(instanceId), 'index-jobs', (shard) =>
        indexJobs(shard, instanceId, changes, deps),
      ),
  });
  const adoption = createJobAdoption({ ...deps, driver, index, tally, known });
  let counted = deps.driver();

  /** What an earlier incarnation drove is not driven by this one, unless it takes it over. */
  function driver(): string {
    const name = deps.driver();
    if (name !== counted) tally.leaveAll();
    counted = name;
    return name;
  }

  const on = <T>(tag: string, what: string, run: (shard: Shard) => T): Promise<T> =>
    lines.ask(tags.job(tag), what, run);

  async function get(jobId: JobId): Promise<JobRecord | undefined> {
    const tag = jobTag(jobId);
    return (await on(tag, 'read-job', (shard) => scripts.readJob(shard, tag, jobId)))?.record;
  }

  const requestTag = (tenantId: string, requestId: string): string =>
    deps.digest(`${tenantId}\n${requestId}`);

  async function bound(tenantId: string, requestId: string): Promise<JobRecord | undefined> {
    const tag = requestTag(tenantId, requestId);
    return (await on(tag, 'find-bound-job', (shard) => scripts.findBoundJob(shard, tag)))?.record;
  }

  /** At a limit nothing is written, but a repeat still finds its job. */
  async function found(draft: JobRecord): Promise<AdmitResult> {
    const { tenantId, requestId } = draft;
    const job = requestId === undefined ? await get(draft.jobId) : await bound(tenantId, requestId);
    return job === undefined ? { kind: 'full' } : existing(draft, job);
  }

  async function write(draft: JobRecord, tag: string): Promise<Exclude<scripts.Admitted, { kind: 'over' }>> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const by = { driver: driver(), liveMarginMs: deps.liveMarginMs };
      const admitted = await on(tag, 'admit-job', (shard) => scripts.admitJob(shard, tag, draft, by));
      if (admitted.kind !== 'over') return admitted;
      await on(tag, 'shelve-job', (shard) => scripts.shelveJob(shard, tag, admitted.jobId));
    }
    throw new Error(`request of ${draft.jobId} was never free`);
  }

  /** What a record that is settled means for what is counted here. */
  function settled(record: JobRecord): void {
    const hasFailed = record.state === 'FAILED' || record.failure !== undefined;
    const isBound = record.requestId !== undefined && !hasFailed;
    const gone = tally.settle(record.jobId, { bytes: bytesOf(record), isBound });
    if (gone === undefined) return;
    index.end(record.jobId, record.deadlineAt);
    for (const jobId of gone) {
      index.drop(jobId);
      const tag = jobTag(jobId);
      // One that stays, because the store does not answer, ends with its time.
      on(tag, 'drop-job', (shard) => scripts.dropJob(shard, tag, jobId)).catch(() => undefined);
    }
  }

  function fitted(change: JobChange): JobChange {
    if (change.result === undefined) return change;
    const result = fitResult(change.result, deps.resultInlineMaxBytes);
    if (result === change.result) return change;
    deps.onAudioDropped?.();
    return { ...change, result };
  }

  function moveAs(name: string, jobId: JobId, expected: Expected, change: JobChange): Promise<scripts.Moved> {
    const tag = jobTag(jobId);
    const move = { driver: name, expected, change };
    return on(tag, 'move-job', (shard) => scripts.moveJob(shard, tag, jobId, move, deps));
  }

  function noteWatchers(record: JobRecord, stored: StoredJob): void {
    if (stored.watchers.length > 0) watchers.set(record, stored.watchers);
  }

  return {
    async admit(draft) {
      const tag = jobTag(draft.jobId);
      checkName(draft, tag);
      const claim = tally.claim(draft);
      if (claim.kind === 'full') return found(draft);
      const isNew = claim.kind === 'claimed';
      const unbind = isNew ? claim.unbind : undefined;
      let isUnwritten = false;
      const writing = write(draft, tag).catch((fault: unknown) => {
        isUnwritten = isUnsent(fault);
        throw fault;
      });
      try {
        // Both before the answer, and so before the job leaves: whoever adopts finds every job that was accepted.
        const [admitted] = await Promise.all([
          writing,
          index.begin(draft.jobId, draft.deadlineAt),
          unbind === undefined
            ? undefined
            : on(jobTag(unbind), 'unbind-job', (shard) => scripts.unbindJob(shard, jobTag(unbind), unbind)),
        ]);
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
        if (isUnwritten) index.drop(draft.jobId);
        // That the index was not asked says nothing of the record.
        if (isUnwritten || !isUnsent(fault)) throw fault;
        throw new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', 'a job could not be indexed', { cause: fault });
      }
    },

    async move(jobId, expected, change) {
      const seen = known.get(jobId);
      const fit = fitted(change);
      const moved = await moveAs(driver(), jobId, expected, fit);
      if (moved.kind === 'unknown_job' || moved.kind === 'driven_elsewhere') {
        known.forget(jobId);
        tally.leave(jobId);
        return moved;
      }
      const { kind, stored, was } = moved;
      // Whoever has seen the latest revision is not told the record, and makes the next one from what it has seen.
      const record =
        kind === 'moved' && seen?.revision === was.revision && seen.record !== was.record
          ? changeJob(seen.record, fit)
          : stored.record;
      noteWatchers(record, stored);
      if (record.state === 'RELEASED') known.forget(jobId);
      // What a failover rolled back is not known better for it: only the newer record says how to restore it.
      else if (kind === 'moved' || stored.revision >= (known.get(jobId)?.revision ?? 0))
        known.note(record, stored.revision);
      if (isSettled(record.state)) {
        if (kind === 'moved') settled(record);
        else tally.leave(jobId);
      }
      return { kind, job: record };
    },

    async moveFor(other, jobId, expected, change): Promise<MoveResult> {
      const moved = await moveAs(other, jobId, expected, fitted(change));
      if (moved.kind === 'unknown_job' || moved.kind === 'driven_elsewhere') return moved;
      noteWatchers(moved.stored.record, moved.stored);
      return { kind: moved.kind, job: moved.stored.record };
    },

    async discard(jobId) {
      const tag = jobTag(jobId);
      const name = driver();
      const discarded = await on(tag, 'discard-job', (shard) => scripts.discardJob(shard, tag, jobId, name));
      if (discarded === 'kept') return discarded;
      known.forget(jobId);
      tally.leave(jobId);
      if (discarded === 'driven_elsewhere') return discarded;
      index.drop(jobId);
      return 'discarded';
    },

    get,
    bound,
    list: (query) => listJobs({ lines, instanceId, get }, query),

    async watch(jobId, revision) {
      const tag = jobTag(jobId);
      const by = { instanceId, revision };
      return on(tag, 'watch-job', (shard) => scripts.watchJob(shard, tag, jobId, by));
    },
    watchersOf: (record) => watchers.get(record) ?? NOBODY,
    drives(jobId) {
      driver();
      return tally.isInFlight(jobId);
    },

    ...adoption,
    levels: tally.levels,
    close: index.flush,
  };

  /** Another name would be found by its id and not by its request: two jobs for one request. */
  function checkName({ jobId, tenantId, requestId }: JobRecord, tag: string): void {
    if (requestId === undefined || tag === requestTag(tenantId, requestId)) return;
    throw new SchedulerError('INTERNAL_ERROR', `job ${jobId} is not named after its request`);
  }
}

const existing = (draft: JobRecord, job: JobRecord): AdmitResult => ({
  kind: job.fingerprint === draft.fingerprint ? 'existing' : 'conflict',
  job,
});

/** About what a node sent: texts, speech, which is base64, and whatever else it added. */
function bytesOf({ result, failure }: JobRecord): number {
  const message = failure?.message.length ?? 0;
  if (result === undefined) return message;
  const { ttsAudio, textAsr, textTranslated, extra, details } = result;
  const added = extra === undefined && details === undefined ? 0 : JSON.stringify([extra, details]).length;
  return message + ttsAudio.length + textAsr.length + textTranslated.length + added;
}
