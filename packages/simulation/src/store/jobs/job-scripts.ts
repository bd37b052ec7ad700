/** Simulation: what happens to a job's record on its shard. Each function is one script: whole, at once, by the shard's clock. */
import type {
  Admitted,
  Moved as AnsweredMove,
  Discarded,
  FormerDriver,
  KnownJob,
  RecordScripts,
  Restored,
  TakenOver,
} from '../../../../scheduler/dist/adapters/shared-jobs/job-scripts.js';
import type { JobId } from '../../../../scheduler/dist/domain/ids.js';
import { isSettled, type JobRecord, type TimelineEntry } from '../../../../scheduler/dist/domain/job.js';
import { changeJob, entriesOf, type JobChange } from '../../../../scheduler/dist/domain/job-change.js';
import type { Expected } from '../../../../scheduler/dist/ports/job-store.js';
import type { Shard } from '../servers/shard.ts';
import type { StoredJob } from '../servers/shard-state.ts';
import type { Shelf } from '../servers/shelf.ts';

const NO_IDS: readonly string[] = [];

const isUnbound = ({ boundUntil }: StoredJob, now: number): boolean =>
  boundUntil !== undefined && boundUntil <= now;

export function admitJob(
  shard: Shard,
  tag: string,
  draft: JobRecord,
  by: Parameters<RecordScripts['admit']>[1],
): Admitted {
  const now = shard.now();
  const held = shard.state.jobs.get(tag, now);
  if (held !== undefined) {
    const isOver = held.record.jobId !== draft.jobId && isUnbound(held, now);
    return isOver ? { kind: 'over', jobId: held.record.jobId } : { kind: 'existing', stored: held };
  }
  const stored: StoredJob = {
    record: draft,
    revision: draft.timeline.length,
    driver: by.driver,
    watchers: NO_IDS,
    isSettled: false,
    boundUntil: undefined,
  };
  shard.state.jobs.put(tag, stored, now + by.ttlMs);
  return { kind: 'admitted' };
}

/** Where the job is now: at its tag, or beside it after its request was bound again. */
function find(
  shard: Shard,
  tag: string,
  jobId: JobId,
  now: number,
): { readonly shelf: Shelf<StoredJob>; readonly key: string; readonly stored: StoredJob } | undefined {
  const { jobs, earlierJobs } = shard.state;
  const current = jobs.get(tag, now);
  if (current?.record.jobId === jobId) return { shelf: jobs, key: tag, stored: current };
  const earlier = earlierJobs.get(jobId, now);
  return earlier && { shelf: earlierJobs, key: jobId, stored: earlier };
}

const isAsExpected = ({ state, fence }: JobRecord, expected: Expected): boolean =>
  state === expected.state && (fence?.attempt ?? 0) === expected.fenceAttempt;

export const readJob = (shard: Shard, tag: string, jobId: JobId): StoredJob | undefined =>
  find(shard, tag, jobId, shard.now())?.stored;

export function findBoundJob(shard: Shard, tag: string): StoredJob | undefined {
  const now = shard.now();
  const held = shard.state.jobs.get(tag, now);
  return held === undefined || isUnbound(held, now) ? undefined : held;
}

export type Moved =
  | { readonly kind: 'moved' | 'stale'; readonly stored: StoredJob; readonly was: StoredJob }
  | { readonly kind: 'unknown_job' }
  | { readonly kind: 'driven_elsewhere' };

export function moveJob(
  shard: Shard,
  tag: string,
  jobId: JobId,
  move: { readonly driver: string; readonly expected: Expected; readonly change: JobChange },
  limits: { readonly retentionMs: number; readonly bindingLeaseMs: number },
): Moved {
  const now = shard.now();
  const found = find(shard, tag, jobId, now);
  if (found === undefined) return { kind: 'unknown_job' };
  const { shelf, key, stored } = found;
  const { driver, expected, change } = move;
  if (stored.driver !== driver) return { kind: 'driven_elsewhere' };
  const { record } = stored;
  // Only a move that leaves the state as it is could be taken for one that was not made yet.
  const isMade = change.state === expected.state && isSameEntry(record.timeline.at(-1), change.entry);
  if (isMade || !isAsExpected(record, expected)) return { kind: 'stale', stored, was: stored };
  const settles = isSettled(change.state) && !stored.isSettled;
  const hasFailed = change.state === 'FAILED' || change.failure !== undefined;
  const moved: StoredJob = {
    record: changeJob(record, change),
    revision: stored.revision + entriesOf(change),
    driver,
    watchers: stored.watchers,
    isSettled: stored.isSettled || settles,
    boundUntil: settles ? now + (hasFailed ? 0 : limits.bindingLeaseMs) : stored.boundUntil,
  };
  shelf.put(key, moved, settles ? now + Math.max(1, limits.retentionMs) : shelf.until(key, now));
  return { kind: 'moved', stored: moved, was: stored };
}

/** An instance that has the latest revision does not get the record, and makes the next one from its own copy. */
export function seenBy(known: KnownJob | undefined, moved: Moved, change: JobChange): AnsweredMove {
  if (moved.kind === 'unknown_job' || moved.kind === 'driven_elsewhere') return moved;
  const { kind, stored, was } = moved;
  const { revision, watchers } = stored;
  const isSeen = kind === 'moved' && known?.revision === was.revision && known.record !== was.record;
  const record = isSeen ? changeJob(known.record, change) : stored.record;
  return { kind, record, revision, watchers, bytes: bytesOf(change) };
}

/** About what it carries from outside: texts, speech, which is base64, and whatever else a node added. */
function bytesOf({ result, failure }: JobChange): number {
  const message = failure?.message.length ?? 0;
  if (result === undefined) return message;
  const { ttsAudio, textAsr, textTranslated, extra, details } = result;
  const added = extra === undefined && details === undefined ? 0 : JSON.stringify([extra, details]).length;
  return message + ttsAudio.length + textAsr.length + textTranslated.length + added;
}

const isSameEntry = (one: TimelineEntry | undefined, other: TimelineEntry): boolean =>
  one !== undefined &&
  one.at === other.at &&
  one.state === other.state &&
  one.attempt === other.attempt &&
  one.nodeId === other.nodeId &&
  one.reason === other.reason;

export function discardJob(shard: Shard, tag: string, jobId: JobId, driver: string): Discarded {
  const held = shard.state.jobs.get(tag, shard.now());
  if (held?.record.jobId !== jobId) return 'unknown_job';
  if (held.driver !== driver) return 'driven_elsewhere';
  if (held.record.fence !== undefined || held.isSettled) return 'kept';
  shard.state.jobs.delete(tag);
  return 'discarded';
}

/** Puts a job that is no longer bound aside, where its id still finds it. */
export function shelveJob(shard: Shard, tag: string, jobId: JobId): void {
  const now = shard.now();
  const { jobs, earlierJobs } = shard.state;
  const held = jobs.get(tag, now);
  if (held?.record.jobId !== jobId || !isUnbound(held, now)) return;
  earlierJobs.put(jobId, held, jobs.until(tag, now));
  jobs.delete(tag);
}

export function unbindJob(shard: Shard, tag: string, jobId: JobId): void {
  const now = shard.now();
  const { jobs } = shard.state;
  const held = jobs.get(tag, now);
  if (held?.record.jobId !== jobId || !held.isSettled) return;
  jobs.put(tag, { ...held, boundUntil: 0 }, jobs.until(tag, now));
}

/** Lets a settled job go before its time. */
export function dropJob(shard: Shard, tag: string, jobId: JobId): void {
  const found = find(shard, tag, jobId, shard.now());
  if (found?.stored.isSettled) found.shelf.delete(found.key);
}

/** Replaces a settled record by one without texts, which is kept only while its request is bound to it. */
export function eraseJob(
  shard: Shard,
  tag: string,
  erased: JobRecord,
): Awaited<ReturnType<RecordScripts['erase']>> {
  const now = shard.now();
  const found = find(shard, tag, erased.jobId, now);
  if (found === undefined) return 'unknown_job';
  const { shelf, key, stored } = found;
  if (!stored.isSettled) return 'not_settled';
  if (isUnbound(stored, now)) shelf.delete(key);
  else {
    const until = Math.min(shelf.until(key, now), stored.boundUntil ?? now);
    shelf.put(key, { ...stored, record: erased }, until);
  }
  return 'erased';
}

/** Nothing if the job is unknown, or still as it was at `revision`. */
export function watchJob(
  shard: Shard,
  tag: string,
  jobId: JobId,
  by: { readonly instanceId: string; readonly revision: number },
): StoredJob | undefined {
  const now = shard.now();
  const found = find(shard, tag, jobId, now);
  if (found === undefined) return undefined;
  const { shelf, key, stored } = found;
  if (!stored.watchers.includes(by.instanceId)) {
    shelf.put(key, { ...stored, watchers: [...stored.watchers, by.instanceId] }, shelf.until(key, now));
  }
  return stored.revision === by.revision ? undefined : stored;
}

export function takeOverJob(
  shard: Shard,
  tag: string,
  jobId: JobId,
  from: FormerDriver,
  to: string,
): TakenOver {
  const now = shard.now();
  const { jobs, earlierJobs } = shard.state;
  const held = jobs.get(tag, now);
  if (held?.record.jobId !== jobId) {
    const earlier = earlierJobs.get(jobId, now);
    return earlier === undefined ? { kind: 'unknown_job' } : { kind: 'settled', record: earlier.record };
  }
  if (held.isSettled) return { kind: 'settled', record: held.record };
  const slash = held.driver.lastIndexOf('/');
  const isTheirs =
    held.driver.slice(0, slash) === from.instanceId &&
    held.driver.slice(slash + 1) !== (from.livingIncarnation ?? '');
  if (held.driver !== to && !isTheirs) return { kind: 'driven', driver: held.driver };
  const stored = { ...held, driver: to };
  const until = jobs.until(tag, now);
  jobs.put(tag, stored, until);
  return { kind: 'taken', stored, ttlMs: until - now, former: held.driver };
}

/** `left`: absent while it lives. */
export function restoreJob(
  shard: Shard,
  tag: string,
  job: JobRecord,
  by: Parameters<RecordScripts['restore']>[1],
): Restored {
  const now = shard.now();
  const { jobs, earlierJobs } = shard.state;
  const { jobId } = job;
  const current = jobs.get(tag, now);
  const isAside =
    current?.record.jobId !== jobId && (current !== undefined || earlierJobs.get(jobId, now) !== undefined);
  const [shelf, key] = isAside ? [earlierJobs, jobId] : [jobs, tag];
  const held = shelf.get(key, now);
  if (held !== undefined) {
    if (held.driver !== by.driver && held.driver !== by.former)
      return { kind: 'driven_elsewhere', driver: held.driver };
    const [known, given] = [held.record.fence?.attempt ?? 0, job.fence?.attempt ?? 0];
    const isBehind = known < given || (known === given && held.revision < by.revision);
    if (!isBehind || (held.isSettled && by.left === undefined)) {
      shelf.put(key, { ...held, driver: by.driver }, shelf.until(key, now));
      return { kind: 'kept' };
    }
  } else if (current !== undefined && by.left === undefined) {
    return isUnbound(current, now) ? { kind: 'over', jobId: current.record.jobId } : { kind: 'bound_anew' };
  }
  const settles = by.left !== undefined && held?.isSettled !== true;
  const stored: StoredJob = {
    record: job,
    revision: by.revision,
    driver: by.driver,
    watchers: held?.watchers ?? NO_IDS,
    isSettled: settles || held?.isSettled === true,
    boundUntil: settles ? now + (by.left?.leaseMs ?? 0) : held?.boundUntil,
  };
  const until = settles
    ? now + (by.left?.retentionMs ?? 0)
    : held === undefined
      ? now + by.ttlMs
      : shelf.until(key, now);
  shelf.put(key, stored, until);
  return { kind: 'restored' };
}
