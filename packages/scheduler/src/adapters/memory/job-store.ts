/** Job records and request bindings of one process. They die with it; clients send again. */
import type { JobId, TenantId } from '../../domain/ids.ts';
import { isSettled, type JobRecord, type TimelineEntry } from '../../domain/job.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AdmitResult, Expected, JobChange, JobStore, MoveResult } from '../../ports/job-store.ts';
import { createJobShelf, type Stored } from './job-shelf.ts';
import { listJobs } from './list-jobs.ts';

export interface JobStoreLimits {
  /** How long a FINISHED job stays bound to its request. */
  readonly bindingLeaseMs: number;
  readonly retentionMs: number;
  readonly maxRetained: number;
  readonly maxRetainedBytes: number;
  readonly maxInflight: number;
  readonly maxBindings: number;
}

const MAX_TIMELINE = 32;

export function createJobStore(deps: { clock: Clock } & JobStoreLimits): JobStore {
  const shelf = createJobShelf(deps);
  const bindings = new Map<string, Stored>();

  /** The job a request is bound to, if the binding still counts. */
  function boundJob(key: string): Stored | undefined {
    const job = bindings.get(key);
    if (job === undefined) return undefined;
    const isOver = job.settledAt !== undefined && deps.clock.now() >= job.settledAt + deps.bindingLeaseMs;
    if (!isOver) return job;
    unbind(job);
    return undefined;
  }

  function unbind(job: Stored): void {
    if (job.requestId === undefined) return;
    const key = bindingKey(job.tenantId, job.requestId);
    if (bindings.get(key) === job) bindings.delete(key);
  }

  /** Makes room for one more binding: those of settled jobs go first, oldest first. */
  function hasRoomToBind(): boolean {
    if (bindings.size < deps.maxBindings) return true;
    return shelf.dropOldestSettled(
      (job) => bindings.get(bindingKey(job.tenantId, job.requestId ?? '')) === job,
    );
  }

  shelf.onDropped(unbind);

  return {
    async admit(draft: JobRecord): Promise<AdmitResult> {
      const key = draft.requestId === undefined ? undefined : bindingKey(draft.tenantId, draft.requestId);
      if (key !== undefined) {
        const job = boundJob(key);
        if (job !== undefined) {
          return { kind: job.fingerprint === draft.fingerprint ? 'existing' : 'conflict', job };
        }
      }
      if (shelf.liveCount() >= deps.maxInflight) return { kind: 'full' };
      if (key !== undefined && !hasRoomToBind()) return { kind: 'full' };
      const job = shelf.add(draft);
      if (key !== undefined) bindings.set(key, job);
      return { kind: 'admitted', job };
    },

    async move(jobId: JobId, expected: Expected, change: JobChange): Promise<MoveResult> {
      const job = shelf.get(jobId);
      if (job === undefined) return { kind: 'unknown_job' };
      if (job.state !== expected.state || (job.fence?.attempt ?? 0) !== expected.fenceAttempt) {
        return { kind: 'stale', job };
      }
      job.state = change.state;
      if (change.fence !== undefined) job.fence = change.fence;
      if (change.intent === null) job.intent = undefined;
      else if (change.intent !== undefined) job.intent = change.intent;
      if (change.failure !== undefined) job.failure = change.failure;
      if (change.result !== undefined) job.result = change.result;
      if (change.passing !== undefined) note(job.timeline, change.passing);
      note(job.timeline, change.entry);
      if (isSettled(job.state) && job.settledAt === undefined) {
        if (job.state === 'FAILED') unbind(job);
        shelf.settle(job);
      }
      return { kind: 'moved', job };
    },

    async discard(jobId: JobId): Promise<void> {
      const job = shelf.get(jobId);
      if (job === undefined || job.settledAt !== undefined || job.fence !== undefined) return;
      shelf.remove(job);
    },

    async get(jobId: JobId): Promise<JobRecord | undefined> {
      return shelf.get(jobId);
    },

    async bound(tenantId: TenantId, requestId: string): Promise<JobRecord | undefined> {
      return boundJob(bindingKey(tenantId, requestId));
    },

    async list(query) {
      return listJobs(shelf, query);
    },
  };
}

const bindingKey = (tenantId: TenantId, requestId: string): string => `${tenantId}\n${requestId}`;

/** How a job began and how it ended matter most, so the middle goes first. */
function note(timeline: TimelineEntry[], entry: TimelineEntry): void {
  if (timeline.length >= MAX_TIMELINE) timeline.splice(MAX_TIMELINE / 2, 1);
  timeline.push(entry);
}
