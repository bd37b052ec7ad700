/** Job records and request bindings of one process. They end with the process; clients send their requests again. */
import { eraseTexts } from '../../domain/erased-job.ts';
import type { JobId, TenantId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import { changeJob, type JobChange } from '../../domain/job-change.ts';
import { partOf } from '../../domain/tenancy.ts';
import { createTenantFifo } from '../../domain/tenant-fifo.ts';
import { createTenantUse } from '../../domain/tenant-use.ts';
import type { UsageSink } from '../../domain/usage.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AdmitResult, Expected, JobStore, MoveResult } from '../../ports/job-store.ts';
import { createBindings } from './bindings.ts';
import { createJobShelf, type Place, recordAt } from './job-shelf.ts';
import { listJobs } from './list-jobs.ts';
import { PackedJob } from './packed-job.ts';

export interface JobStoreLimits {
  /** How long a FINISHED job stays bound to its request. */
  readonly bindingLeaseMs: number;
  readonly retentionMs: number;
  readonly maxRetained: number;
  readonly maxRetainedBytes: number;
  readonly maxInflight: number;
  readonly maxBindings: number;
  /** Of each of these limits, for one tenant; absent: all of it. */
  readonly tenantShare?: number;
}

/** The store of one process also reports how full it is. */
export interface MemoryJobStore extends JobStore {
  levels(): { readonly bindings: number; readonly retained: number; readonly retainedBytes: number };
}

/** The hot methods return values, because a promise would cost more than their work. Without `usage` nothing is counted. */
export function createJobStore(
  deps: { clock: Clock; usage?: Pick<UsageSink, 'count'> } & JobStoreLimits,
): MemoryJobStore {
  const shelf = createJobShelf(deps);
  const bindings = createBindings<Place>();
  const { tenantShare = 1 } = deps;
  const live = createTenantUse(deps.maxInflight, tenantShare);
  const maxBindingsOfTenant = partOf(deps.maxBindings, tenantShare);
  /** Settled and still bound. */
  const leases = tenantShare < 1 ? createTenantFifo<Place>() : undefined;

  const isBindingOver = ({ settledAt }: Place): boolean =>
    settledAt !== undefined && deps.clock.now() >= settledAt + deps.bindingLeaseMs;

  /** The job to which a request is bound, if the binding is still valid. */
  function boundPlace(tenantId: TenantId, requestId: string): Place | undefined {
    const place = bindings.get(tenantId, requestId);
    if (place === undefined || shelf.get(place.record.jobId) !== place) return undefined;
    if (!isBindingOver(place)) return place;
    unbind(place);
    return undefined;
  }

  function unbind(place: Place): boolean {
    const { tenantId, requestId, jobId } = place.record;
    leases?.delete(tenantId, jobId);
    return requestId !== undefined && bindings.remove(tenantId, requestId, place);
  }

  /** Makes room for one more binding: those of settled jobs are dropped first, oldest first. */
  function hasRoomToBind(): boolean {
    if (bindings.size() < deps.maxBindings) return true;
    for (let place = shelf.firstSettled(); place !== undefined; place = place.settledAfter) {
      if (unbind(place)) return true;
    }
    return false;
  }

  /** The same for the part of one tenant. */
  function hasRoomOfTenant(tenantId: TenantId): boolean {
    if (bindings.sizeOf(tenantId) < maxBindingsOfTenant) return true;
    const oldest = leases?.firstOf(tenantId);
    return oldest !== undefined && unbind(oldest[1]);
  }

  shelf.onRemoved((place) => {
    if (place.settledAt === undefined) live.add(place.record.tenantId, -1);
    unbind(place);
  });

  return {
    admit(draft: JobRecord): AdmitResult {
      const { tenantId, requestId } = draft;
      const known = requestId === undefined ? shelf.get(draft.jobId) : boundPlace(tenantId, requestId);
      if (known !== undefined) {
        const isSame = known.record.fingerprint === draft.fingerprint;
        return { kind: isSame ? 'existing' : 'conflict', job: recordAt(known) };
      }
      if (shelf.liveCount() >= deps.maxInflight) return { kind: 'full' };
      if (!live.hasRoom(tenantId)) return { kind: 'full', limit: 'tenant' };
      if (requestId !== undefined && !hasRoomOfTenant(tenantId)) return { kind: 'full', limit: 'tenant' };
      if (requestId !== undefined && !hasRoomToBind()) return { kind: 'full' };
      live.add(tenantId, 1);
      const place = shelf.add(draft);
      if (requestId !== undefined) bindings.set(tenantId, requestId, place);
      return { kind: 'admitted', job: draft };
    },

    move(jobId: JobId, expected: Expected, change: JobChange): MoveResult {
      const place = shelf.get(jobId);
      if (place === undefined) return { kind: 'unknown_job' };
      const before = recordAt(place);
      if (before.state !== expected.state || (before.fence?.attempt ?? 0) !== expected.fenceAttempt) {
        return { kind: 'stale', job: before };
      }
      const job = changeJob(before, change);
      place.record = job;
      if (isSettled(change.state) && place.settledAt === undefined) {
        const { tenantId, requestId } = job;
        live.add(tenantId, -1);
        if (change.state === 'FAILED') unbind(place);
        else if (requestId !== undefined) leases?.add(tenantId, jobId, place);
        shelf.settle(place);
        if (job.usage !== undefined) deps.usage?.count(tenantId, { jobId, usage: job.usage });
      }
      if (change.state === 'RELEASED') place.record = new PackedJob(job);
      return { kind: 'moved', job };
    },

    async discard(jobId: JobId) {
      const place = shelf.get(jobId);
      if (place === undefined) return 'discarded';
      if (place.settledAt !== undefined || place.record.fence !== undefined) return 'kept';
      shelf.remove(place);
      return 'discarded';
    },

    async erase(jobId: JobId) {
      const place = shelf.get(jobId);
      if (place === undefined) return 'unknown_job';
      if (place.settledAt === undefined) return 'not_settled';
      const job = recordAt(place);
      const hasFailed = job.state === 'FAILED' || job.failure !== undefined;
      if (hasFailed || isBindingOver(place)) shelf.remove(place);
      else shelf.replace(place, new PackedJob(eraseTexts(job)), place.settledAt + deps.bindingLeaseMs);
      return 'erased';
    },

    get: (jobId: JobId): Promise<JobRecord | undefined> => Promise.resolve(recordOf(shelf.get(jobId))),

    async bound(tenantId: TenantId, requestId: string): Promise<JobRecord | undefined> {
      return recordOf(boundPlace(tenantId, requestId));
    },

    async list(query) {
      return listJobs(shelf, query);
    },

    levels() {
      const { count, bytes } = shelf.retained();
      return { bindings: bindings.size(), retained: count, retainedBytes: bytes };
    },
  };
}

const recordOf = (place: Place | undefined): JobRecord | undefined =>
  place === undefined ? undefined : recordAt(place);
