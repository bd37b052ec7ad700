/**
 * Hot path: what this instance has in a shared store, counted here, so that limits cost no shared counter.
 *
 * Jobs in flight are those it admitted, retained ones those it settled. What ends elsewhere is noticed when its time is over at
 * the latest. Nothing here decides what is true of a job; at worst a limit is met a little early.
 */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { Clock } from '../../ports/clock.ts';
import { createFifo } from './fifo.ts';

export type Claim =
  | { readonly kind: 'claimed'; readonly unbind?: JobId }
  /** It has its place already: the same draft once more. */
  | { readonly kind: 'held' }
  | { readonly kind: 'full' };

export interface JobTally {
  /** A place for one more job, before it is written. `unbind`: whose binding has to go for it. */
  claim(draft: JobRecord): Claim;
  /** Admitted elsewhere and driven here from now on, whatever the limits: somebody has to. */
  adopt(job: JobRecord): void;
  /** It was not written after all, or is gone, or driven by another. */
  leave(jobId: JobId): void;
  /** None of those in flight is driven here any more. */
  leaveAll(): void;
  /** Whose records have to go for it. Nothing if it was settled before. */
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
  /** Settled by this instance, as are the bytes. */
  readonly maxRetained: number;
  readonly maxRetainedBytes: number;
  /** Admitted by this instance, as are the bindings. */
  readonly maxInflight: number;
  readonly maxBindings: number;
  /** How long a record that nobody settles outlives its deadline: for clocks that differ, and for whoever adopts it. */
  readonly liveMarginMs: number;
}

/** Bytes of a settled record besides what the node sent, measured generously. */
const RECORD_BYTES = 2_048;

export function createJobTally(deps: { clock: Clock } & TallyLimits): JobTally {
  const { clock } = deps;
  const inFlight = new Map<JobId, { readonly overAt: number; readonly isBound: boolean }>();
  let boundInFlight = 0;
  /** In order of settling, which is the order they go in. */
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

  /** Each stands in order of time, or nearly so: the first that is not over ends the search. */
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
      // The binding that goes for a new one is that of the job settled longest ago.
      const unbind = isTight ? leases.first()?.[0] : undefined;
      if (isTight && unbind === undefined) return { kind: 'full' };
      enter(draft);
      if (unbind === undefined) return { kind: 'claimed' };
      leases.delete(unbind);
      return { kind: 'claimed', unbind };
    },

    adopt(job) {
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
