/**
 * Hot path: counts the jobs of this instance in the shared store, so that limits need no shared counter.
 *
 * It counts the jobs that this instance admitted (in flight) and those it settled (retained). A job that ends on another instance is
 * counted until its time is over. No decision about a job depends on these counts; at worst a limit applies a little early.
 */
import { createFifo } from '../../domain/fifo.ts';
import type { JobId, TenantId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import { partOf } from '../../domain/tenancy.ts';
import { createTenantFifo } from '../../domain/tenant-fifo.ts';
import { createTenantUse } from '../../domain/tenant-use.ts';
import type { Clock } from '../../ports/clock.ts';

export type Claim =
  | { readonly kind: 'claimed'; readonly unbind?: JobId }
  /** The same draft was counted before. */
  | { readonly kind: 'held' }
  | { readonly kind: 'full'; readonly limit?: 'tenant' };

export interface JobTally {
  /** Counts one more job, before it is written. `unbind`: the job whose binding must be removed for it. */
  claim(draft: JobRecord): Claim;
  /** Counts a job that this instance took over, regardless of the limits: every job needs a driver. */
  addTakenOver(job: JobRecord): void;
  /** The job was not written, was removed, or has another driver. */
  leave(jobId: JobId): void;
  /** This instance no longer drives any of the jobs in flight. */
  leaveAll(): void;
  /** Returns the jobs whose records must be dropped for it. Undefined if the job was settled before. */
  settle(
    jobId: JobId,
    how: { readonly tenantId: TenantId; readonly bytes: number; readonly isBound: boolean },
  ): readonly JobId[] | undefined;
  isInFlight(jobId: JobId): boolean;
  levels(): { readonly bindings: number; readonly retained: number; readonly retainedBytes: number };
}

export interface TallyLimits {
  /** How long a FINISHED job stays bound to its request. */
  readonly bindingLeaseMs: number;
  readonly retentionMs: number;
  /** Applies to jobs settled by this instance, like the bytes. */
  readonly maxRetained: number;
  readonly maxRetainedBytes: number;
  /** Applies to jobs admitted by this instance, like the bindings. */
  readonly maxInflight: number;
  readonly maxBindings: number;
  /** Of each of these limits, for one tenant; absent: all of it. */
  readonly tenantShare?: number;
  /** How long the record of an unsettled job is kept after its deadline: for differing clocks, and for a takeover. */
  readonly liveMarginMs: number;
}

/** Upper estimate of the bytes of a settled record without the node's data. */
const RECORD_BYTES = 2_048;

interface Place {
  readonly overAt: number;
  readonly isBound: boolean;
  readonly tenantId: TenantId;
}

export function createJobTally(deps: { clock: Clock } & TallyLimits): JobTally {
  const { clock } = deps;
  const { tenantShare = 1 } = deps;
  const inFlight = new Map<JobId, Place>();
  let boundInFlight = 0;
  const live = createTenantUse(deps.maxInflight, tenantShare);
  /** Bindings of jobs in flight. */
  const bound = createTenantUse(deps.maxBindings, tenantShare);
  /** In the order of settling, which is the order of dropping. */
  const retained = createFifo<{
    readonly overAt: number;
    readonly bytes: number;
    readonly tenantId: TenantId;
  }>();
  let retainedBytes = 0;
  /** Settled and still bound, oldest first → end of the lease. */
  const leases = createFifo<{ readonly overAt: number; readonly tenantId: TenantId }>();
  /** The same by tenant. */
  const ofTenants =
    tenantShare < 1 ? { retained: createTenantFifo<true>(), leases: createTenantFifo<true>() } : undefined;
  const most = {
    retained: partOf(deps.maxRetained, tenantShare),
    bytes: partOf(deps.maxRetainedBytes, tenantShare),
  };

  function enter({ jobId, tenantId, requestId, deadlineAt }: JobRecord): void {
    const isBound = requestId !== undefined;
    const overAt = Math.max(deadlineAt, clock.now()) + deps.liveMarginMs;
    inFlight.set(jobId, { overAt, isBound, tenantId });
    live.add(tenantId, 1);
    if (!isBound) return;
    boundInFlight += 1;
    bound.add(tenantId, 1);
  }

  function leave(jobId: JobId): void {
    const place = inFlight.get(jobId);
    if (place === undefined) return;
    inFlight.delete(jobId);
    live.add(place.tenantId, -1);
    if (!place.isBound) return;
    boundInFlight -= 1;
    bound.add(place.tenantId, -1);
  }

  function drop(jobId: JobId): void {
    const dropped = retained.delete(jobId);
    if (dropped !== undefined) ofTenants?.retained.delete(dropped.tenantId, jobId);
    retainedBytes -= dropped?.bytes ?? 0;
    endLease(jobId);
  }

  function endLease(jobId: JobId): void {
    const lease = leases.delete(jobId);
    if (lease === undefined) return;
    ofTenants?.leases.delete(lease.tenantId, jobId);
    bound.add(lease.tenantId, -1);
  }

  /** The job whose binding makes room for one more of the tenant: the one that was settled longest ago. */
  function oldestBinding(tenantId: TenantId): JobId | undefined {
    return bound.hasRoom(tenantId) ? leases.first()?.[0] : ofTenants?.leases.firstOf(tenantId)?.[0];
  }

  /** The next job to drop: of the tenant if it has more than its part, otherwise of all. */
  function nextToDrop(tenantId: TenantId): JobId | undefined {
    const own = ofTenants?.retained;
    if (own !== undefined && (own.countOf(tenantId) > most.retained || own.sizeOf(tenantId) > most.bytes)) {
      return own.firstOf(tenantId)?.[0];
    }
    const isTooMuch = retained.size() > deps.maxRetained || retainedBytes > deps.maxRetainedBytes;
    return isTooMuch ? retained.first()?.[0] : undefined;
  }

  /** Entries are in order of time, or nearly so: the first one that has not expired ends the loop. */
  function sweep(): void {
    const now = clock.now();
    for (const [jobId, { overAt }] of inFlight) {
      if (overAt > now) break;
      leave(jobId);
    }
    for (let first = retained.first(); first !== undefined; first = retained.first()) {
      if (first[1].overAt > now) break;
      drop(first[0]);
    }
    for (let first = leases.first(); first !== undefined; first = leases.first()) {
      if (first[1].overAt > now) break;
      endLease(first[0]);
    }
  }

  return {
    claim(draft) {
      if (inFlight.has(draft.jobId)) return { kind: 'held' };
      sweep();
      const { tenantId } = draft;
      if (inFlight.size >= deps.maxInflight) return { kind: 'full' };
      if (!live.hasRoom(tenantId)) return { kind: 'full', limit: 'tenant' };
      const isBound = draft.requestId !== undefined;
      const isOver = !bound.hasRoom(tenantId);
      const isTight = isBound && (isOver || boundInFlight + leases.size() >= deps.maxBindings);
      const unbind = isTight ? oldestBinding(tenantId) : undefined;
      if (isTight && unbind === undefined)
        return isOver ? { kind: 'full', limit: 'tenant' } : { kind: 'full' };
      enter(draft);
      if (unbind === undefined) return { kind: 'claimed' };
      endLease(unbind);
      return { kind: 'claimed', unbind };
    },

    addTakenOver(job) {
      if (!inFlight.has(job.jobId)) enter(job);
    },

    leave,

    leaveAll() {
      for (const jobId of inFlight.keys()) leave(jobId);
    },

    settle(jobId, { tenantId, bytes, isBound }) {
      leave(jobId);
      if (retained.has(jobId)) return undefined;
      sweep();
      const now = clock.now();
      const size = RECORD_BYTES + bytes;
      retained.add(jobId, { overAt: now + deps.retentionMs, bytes: size, tenantId });
      ofTenants?.retained.add(tenantId, jobId, true, size);
      retainedBytes += size;
      if (isBound) {
        leases.add(jobId, { overAt: now + Math.min(deps.bindingLeaseMs, deps.retentionMs), tenantId });
        ofTenants?.leases.add(tenantId, jobId, true);
        bound.add(tenantId, 1);
      }
      const gone: JobId[] = [];
      for (let next = nextToDrop(tenantId); next !== undefined; next = nextToDrop(tenantId)) {
        drop(next);
        gone.push(next);
      }
      return gone;
    },

    isInFlight: (jobId) => inFlight.has(jobId),
    levels: () => ({ bindings: boundInFlight + leases.size(), retained: retained.size(), retainedBytes }),
  };
}
