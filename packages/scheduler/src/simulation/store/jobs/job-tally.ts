/** Simulation: what an instance has in the store, as it counts for itself: limits cost no shared counter. */
import type { JobId } from '../../../domain/ids.ts';
import type { JobRecord } from '../../../domain/job.ts';
import type { Clock } from '../../../ports/clock.ts';

export type Claim =
  | { readonly kind: 'claimed'; readonly unbind?: JobId }
  | { readonly kind: 'held' | 'full' };

export interface TallyLimits {
  readonly bindingLeaseMs: number;
  readonly retentionMs: number;
  readonly maxRetained: number;
  readonly maxRetainedBytes: number;
  readonly maxInflight: number;
  readonly maxBindings: number;
  readonly liveMarginMs: number;
}

/** Of a settled record, besides what the node sent. */
const RECORD_BYTES = 2_048;

export function createJobTally(deps: { clock: Clock } & TallyLimits) {
  const { clock } = deps;
  const inFlight = new Map<JobId, { readonly overAt: number; readonly isBound: boolean }>();
  /** In the order of settling, which is the order they go in. */
  const retained = new Map<JobId, { readonly overAt: number; readonly bytes: number }>();
  /** Settled and still bound → until when. */
  const leases = new Map<JobId, number>();
  let boundInFlight = 0;
  let retainedBytes = 0;

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
    retainedBytes -= retained.get(jobId)?.bytes ?? 0;
    retained.delete(jobId);
    leases.delete(jobId);
  }

  /** Each stands nearly in the order of time: the first that is not over ends the search. */
  function sweep(): void {
    const now = clock.now();
    const eachOver = <T>(all: Map<JobId, T>, overAt: (one: T) => number, end: (jobId: JobId) => void) => {
      for (const [jobId, one] of all) {
        if (overAt(one) > now) return;
        end(jobId);
      }
    };
    eachOver(inFlight, ({ overAt }) => overAt, leave);
    eachOver(retained, ({ overAt }) => overAt, drop);
    eachOver(
      leases,
      (endsAt) => endsAt,
      (jobId) => leases.delete(jobId),
    );
  }

  return {
    /** A place for one more, before it is written. `unbind`: whose binding has to go for it. */
    claim(draft: JobRecord): Claim {
      if (inFlight.has(draft.jobId)) return { kind: 'held' };
      sweep();
      if (inFlight.size >= deps.maxInflight) return { kind: 'full' };
      const isTight = draft.requestId !== undefined && boundInFlight + leases.size >= deps.maxBindings;
      const [unbind] = isTight ? leases.keys() : [];
      if (isTight && unbind === undefined) return { kind: 'full' };
      enter(draft);
      if (unbind === undefined) return { kind: 'claimed' };
      leases.delete(unbind);
      return { kind: 'claimed', unbind };
    },
    /** Driven here from now on, whatever the limits. */
    adopt(job: JobRecord): void {
      if (!inFlight.has(job.jobId)) enter(job);
    },
    leave,
    leaveAll(): void {
      inFlight.clear();
      boundInFlight = 0;
    },
    /** Whose records have to go for it. Nothing if it was settled before. */
    settle(jobId: JobId, how: { readonly bytes: number; readonly isBound: boolean }): JobId[] | undefined {
      leave(jobId);
      if (retained.has(jobId)) return undefined;
      sweep();
      const now = clock.now();
      const bytes = RECORD_BYTES + how.bytes;
      retained.set(jobId, { overAt: now + deps.retentionMs, bytes });
      retainedBytes += bytes;
      if (how.isBound) leases.set(jobId, now + Math.min(deps.bindingLeaseMs, deps.retentionMs));
      const gone: JobId[] = [];
      for (const oldest of retained.keys()) {
        if (retained.size <= deps.maxRetained && retainedBytes <= deps.maxRetainedBytes) break;
        drop(oldest);
        gone.push(oldest);
      }
      return gone;
    },
    isInFlight: (jobId: JobId): boolean => inFlight.has(jobId),
    levels: () => ({ bindings: boundInFlight + leases.size, retained: retained.size, retainedBytes }),
  };
}
