/**
 * Hot path: counts the jobs of this instance in the shared store, so that limits need no shared counter.
 *
 * It counts the jobs that this instance admitted (in flight) and those it settled (retained). A job that ends on another instance is
 * counted until its time is over. No decision about a job depends on these counts; at worst a limit applies a little early.
 */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { Clock } from '../../ports/clock.ts';
import { createFifo } from './fifo.ts';

export type Claim =
  | { readonly kind: 'claimed'; readonly unbind?: JobId }
  /** The same draft was counted before. */
  | { readonly kind: 'held' }
  | { readonly kind: 'full' };

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
    how: { readonly bytes: number; readonly isBound: boolean },
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
  /** How long the record of an unsettled job is kept after its deadline: for differing clocks, and for a takeover. */
  readonly liveMarginMs: number;
}

/** Upper estimate of the bytes of a settled record without the node's data. */
const RECORD_BYTES = 2_048;

export function createJobTally(deps: { clock: Clock } & TallyLimits): JobTally {
  const { clock } = deps;
  const inFlight = new Map<JobId, { readonly overAt: number; readonly isBound: boolean }>();
  let boundInFlight = 0;
  /** In the order of settling, which is the order of dropping. */
  const retained = createFifo<{ readonly overAt: number; readonly bytes: number }>();
  let retainedBytes = 0;
  /** Settled and still bound, oldest first → end of the lease. */
  const leases = createFifo<number>();

  function enter({ jobId, requestId, deadlineAt }: JobRecord): void {
    const isBound = requestId !== undefined;
    inFlight.set(jobId, { overAt: Math.max(deadlineAt, clock.now()) + deps.liveMarginMs, isBound });
    if (isBound) boundInFlight += 1;
  }

  function leave(jobId: JobId): void {
    const place = inFlight.get(jobId);
    if (place === undefined) return;
    inFlight.delete(jobId);
    if (place.isBound) boundInFlight -= 1;
  }

  function drop(jobId: JobId): void {
    retainedBytes -= retained.delete(jobId)?.bytes ?? 0;
    leases.delete(jobId);
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
      if (first[1] > now) break;
      leases.delete(first[0]);
    }
  }

  return {
    claim(draft) {
      if (inFlight.has(draft.jobId)) return { kind: 'held' };
      sweep();
      if (inFlight.size >= deps.maxInflight) return { kind: 'full' };
      const isBound = draft.requestId !== undefined;
      const isTight = isBound && boundInFlight + leases.size() >= deps.maxBindings;
      // The binding of the job that was settled longest ago makes room for a new one.
      const unbind = isTight ? leases.first()?.[0] : undefined;
      if (isTight && unbind === undefined) return { kind: 'full' };
      enter(draft);
      if (unbind === undefined) return { kind: 'claimed' };
      leases.delete(unbind);
      return { kind: 'claimed', unbind };
    },

    addTakenOver(job) {
      if (!inFlight.has(job.jobId)) enter(job);
    },

    leave,

    leaveAll() {
      inFlight.clear();
      boundInFlight = 0;
    },

    settle(jobId, { bytes, isBound }) {
      leave(jobId);
      if (retained.has(jobId)) return undefined;
      sweep();
      const now = clock.now();
      const size = RECORD_BYTES + bytes;
      retained.add(jobId, { overAt: now + deps.retentionMs, bytes: size });
      retainedBytes += size;
      if (isBound) leases.add(jobId, now + Math.min(deps.bindingLeaseMs, deps.retentionMs));
      const gone: JobId[] = [];
      for (let oldest = retained.first(); oldest !== undefined; oldest = retained.first()) {
        if (retained.size() <= deps.maxRetained && retainedBytes <= deps.maxRetainedBytes) break;
        drop(oldest[0]);
        gone.push(oldest[0]);
      }
      return gone;
    },

    isInFlight: (jobId) => inFlight.has(jobId),
    levels: () => ({ bindings: boundInFlight + leases.size(), retained: retained.size(), retainedBytes }),
  };
}
