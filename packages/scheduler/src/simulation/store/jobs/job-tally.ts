/** Simulation: what an instance has in the store, as it counts for itself: limits cost no shared counter. */
import type { JobId } from '../../../domain/ids.ts';
import type { JobRecord } from '../../../domain/job.ts';
import type { Clock } from '../../../ports/clock.ts';
import { createFifo, type Fifo } from './fifo.ts';

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
  const inFlight = createFifo<{ readonly overAt: number; readonly isBound: boolean }>();
  /** In the order of settling, which is the order they go in. */
  const retained = createFifo<{ readonly overAt: number; readonly bytes: number }>();
  /** Settled and still bound, until when. */
  const leases = createFifo<{ readonly overAt: number }>();
  let boundInFlight = 0;
  let retainedBytes = 0;

  function enter({ jobId, requestId, deadlineAt }: JobRecord): void {
    const isBound = requestId !== undefined;
    inFlight.add(jobId, { overAt: Math.max(deadlineAt, clock.now()) + deps.liveMarginMs, isBound });
    if (isBound) boundInFlight += 1;
  }

  function leave(jobId: JobId): void {
    if (inFlight.delete(jobId)?.isBound) boundInFlight -= 1;
  }

  function drop(jobId: JobId): void {
    retainedBytes -= retained.delete(jobId)?.bytes ?? 0;
    leases.delete(jobId);
  }

  /** Each stands nearly in the order of time: the first that is not over ends the search. */
  function sweep(): void {
    const now = clock.now();
    endOver(inFlight, now, leave);
    endOver(retained, now, drop);
    endOver(leases, now, leases.delete);
  }

  return {
    /** A place for one more, before it is written. `unbind`: whose binding has to go for it. */
    claim(draft: JobRecord): Claim {
      if (inFlight.has(draft.jobId)) return { kind: 'held' };
      sweep();
      if (inFlight.size >= deps.maxInflight) return { kind: 'full' };
      const isTight = draft.requestId !== undefined && boundInFlight + leases.size >= deps.maxBindings;
      const unbind = isTight ? leases.first()?.[0] : undefined;
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
      retained.add(jobId, { overAt: now + deps.retentionMs, bytes });
      retainedBytes += bytes;
      if (how.isBound) leases.add(jobId, { overAt: now + Math.min(deps.bindingLeaseMs, deps.retentionMs) });
      const gone: JobId[] = [];
      while (retained.size > deps.maxRetained || retainedBytes > deps.maxRetainedBytes) {
        const oldest = retained.first();
        if (oldest === undefined) break;
        drop(oldest[0]);
        gone.push(oldest[0]);
      }
      return gone;
    },
    isInFlight: (jobId: JobId): boolean => inFlight.has(jobId),
    levels: () => ({ bindings: boundInFlight + leases.size, retained: retained.size, retainedBytes }),
  };
}

function endOver<T extends { readonly overAt: number }>(
  all: Fifo<T>,
  now: number,
  end: (jobId: JobId) => void,
): void {
  for (let first = all.first(); first !== undefined && first[1].overAt <= now; first = all.first())
    end(first[0]);
}
