/** Job records and request bindings of one process. They die with it; clients send again. */
import type { JobId, TenantId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import { changeJob, type JobChange } from '../../domain/job-change.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AdmitResult, Expected, JobStore, MoveResult } from '../../ports/job-store.ts';
import { createJobShelf, type Place } from './job-shelf.ts';
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

/** The store of one process also knows how full it is. */
export interface MemoryJobStore extends JobStore {
  levels(): { readonly bindings: number; readonly retained: number; readonly retainedBytes: number };
}

/** The hot methods answer at once: a promise would cost more than their work. */
export function createJobStore(deps: { clock: Clock } & JobStoreLimits): MemoryJobStore {
  const shelf = createJobShelf(deps);
  const bindings = new Map<string, Place>();

  const isBindingOver = ({ settledAt }: Place): boolean =>
    settledAt !== undefined && deps.clock.now() >= settledAt + deps.bindingLeaseMs;

  /** The place of the job a request is bound to, if the binding still counts. */
  function boundPlace(key: string): Place | undefined {
    const place = bindings.get(key);
    if (place === undefined || shelf.get(place.record.jobId) !== place) return undefined;
    if (!isBindingOver(place)) return place;
    unbind(place);
    return undefined;
  }

  function unbind({ record }: Place): boolean {
    if (record.requestId === undefined) return false;
    const key = bindingKey(record.tenantId, record.requestId);
    return bindings.get(key)?.record.jobId === record.jobId && bindings.delete(key);
  }

  /** Room for one more binding: those of settled jobs go first, oldest first. */
  function hasRoomToBind(): boolean {
    if (bindings.size < deps.maxBindings) return true;
    for (let place = shelf.firstSettled(); place !== undefined; place = place.settledAfter) {
      if (unbind(place)) return true;
    }
    return false;
  }

  shelf.onRemoved(unbind);

  return {
    admit(draft: JobRecord): AdmitResult {
      const key = draft.requestId === undefined ? undefined : bindingKey(draft.tenantId, draft.requestId);
      const known = key === undefined ? shelf.get(draft.jobId) : boundPlace(key);
      if (known !== undefined) {
        const isSame = known.record.fingerprint === draft.fingerprint;
        return { kind: isSame ? 'existing' : 'conflict', job: known.record };
      }
      if (shelf.liveCount() >= deps.maxInflight) return { kind: 'full' };
      if (key !== undefined && !hasRoomToBind()) return { kind: 'full' };
      const place = shelf.add(draft);
      if (key !== undefined) bindings.set(key, place);
      return { kind: 'admitted', job: place.record };
    },

    move(jobId: JobId, expected: Expected, change: JobChange): MoveResult {
      const place = shelf.get(jobId);
      if (place === undefined) return { kind: 'unknown_job' };
      const before = place.record;
      if (before.state !== expected.state || (before.fence?.attempt ?? 0) !== expected.fenceAttempt) {
        return { kind: 'stale', job: before };
      }
      place.record = changeJob(before, change);
      if (isSettled(change.state) && place.settledAt === undefined) {
        if (change.state === 'FAILED') unbind(place);
        shelf.settle(place);
      }
      return { kind: 'moved', job: place.record };
    },

    async discard(jobId: JobId): Promise<void> {
      const place = shelf.get(jobId);
      if (place === undefined || place.settledAt !== undefined || place.record.fence !== undefined) return;
      shelf.remove(place);
    },

    get: (jobId: JobId): Promise<JobRecord | undefined> => Promise.resolve(shelf.get(jobId)?.record),

    async bound(tenantId: TenantId, requestId: string): Promise<JobRecord | undefined> {
      return boundPlace(bindingKey(tenantId, requestId))?.record;
    },

    async list(query) {
      return listJobs(shelf, query);
    },

    levels() {
      const { count, bytes } = shelf.retained();
      return { bindings: bindings.size, retained: count, retainedBytes: bytes };
    },
  };
}

const bindingKey = (tenantId: TenantId, requestId: string): string => `${tenantId}\n${requestId}`;
