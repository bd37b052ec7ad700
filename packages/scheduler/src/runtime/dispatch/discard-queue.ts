/**
 * Background actor: discards records that were admitted and then refused, and repeats that while the store fails. A record that
 * stayed bound would answer every repeat with a job without a driver. Bounded: a record that finds no room here expires in the
 * store.
 */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { JobId } from '../../domain/ids.ts';
import type { JobStore } from '../../ports/job-store.ts';
import type { Timer } from '../attempts/timer-wheel.ts';
import type { Engine } from '../engine.ts';

export type DiscardResult = Awaited<ReturnType<JobStore['discard']>> | 'later';

export interface DiscardQueue {
  /** Discards now, and repeats a failed call in the background. */
  now(jobId: JobId): Promise<DiscardResult>;
  /** Discards in the background. */
  soon(jobId: JobId): void;
  /** The request was refused: its record was just discarded, or will be when the store answers. */
  isWithdrawn(jobId: JobId): boolean;
  /** A job with this id is about to be admitted: nothing is discarded until `resume`. Resolves when no discard is under way. */
  hold(jobId: JobId): Promise<void> | undefined;
  /** The job was not admitted: the pending discard goes on. */
  resume(jobId: JobId): void;
  /** The job was admitted: it is not the refused one, so its record stays. */
  forget(jobId: JobId): void;
}

interface Pending {
  /** The record expires soon after its deadline. */
  readonly until: number;
  readonly drops: number;
  holds: number;
  underWay: Promise<DiscardResult> | undefined;
  /** The sweep of its last try. */
  sweep: number;
}

/** Pause after a failed call. As long after a discard, a repeat may still be looking for the driver of the discarded job. */
const RETRY_MS = 1_000;
const AT_ONCE = 32;

export function createDiscardQueue(engine: Engine, deps: { maxPending: number }): DiscardQueue {
  const { clock, wheel, store, log, settings } = engine;
  /** The one whose last try is longest ago comes first. */
  const pending = new Map<JobId, Pending>();
  /** Recent discards; only with other instances. */
  const gone = createBoundedMap<JobId, true>({
    max: deps.maxPending,
    maxAgeMs: RETRY_MS,
    now: () => clock.now(),
  });
  let waking: Timer | undefined;
  let isSweeping = false;
  let sweeps = 0;
  let dropped = 0;

  function enter(jobId: JobId): Pending {
    const known = pending.get(jobId);
    if (known !== undefined) return known;
    const one: Pending = {
      until: clock.now() + settings.jobDeadlineMs,
      drops: engine.drops,
      holds: 0,
      underWay: undefined,
      sweep: 0,
    };
    pending.set(jobId, one);
    makeRoom();
    return one;
  }

  function makeRoom(): void {
    for (const [jobId, { holds, underWay }] of pending) {
      if (pending.size <= deps.maxPending) return;
      if (holds > 0 || underWay !== undefined) continue;
      pending.delete(jobId);
      dropped += 1;
    }
  }

  function leave(jobId: JobId): void {
    pending.delete(jobId);
    if (engine.drivers !== undefined) gone.set(jobId, true);
  }

  /** If another instance took the jobs over, it decides about the record. A job in flight is not the refused one. */
  const isOver = (jobId: JobId, { until, drops }: Pending): boolean =>
    clock.now() >= until || drops !== engine.drops || isInFlight(jobId);

  const isInFlight = (jobId: JobId): boolean => engine.inFlightJobs.get(jobId)?.driving === 'ours';

  function request(jobId: JobId, one: Pending): Promise<DiscardResult> {
    one.underWay ??= discard(jobId, one).finally(() => {
      one.underWay = undefined;
    });
    return one.underWay;
  }

  async function discard(jobId: JobId, one: Pending): Promise<DiscardResult> {
    try {
      const taken = await store.discard(jobId);
      if (pending.get(jobId) === one) leave(jobId);
      return taken;
    } catch (fault) {
      log.debug({ job_id: jobId, err: fault }, 'cannot discard a refused job; trying again');
      if (pending.delete(jobId)) pending.set(jobId, one);
      return 'later';
    }
  }

  /** Up to AT_ONCE discards, none twice in a sweep. */
  function next(): Promise<DiscardResult>[] {
    const input: Promise<DiscardResult>[] = [];
    for (const [jobId, one] of pending) {
      if (input.length === AT_ONCE) break;
      if (isOver(jobId, one)) pending.delete(jobId);
      else if (one.holds === 0 && one.underWay === undefined && one.sweep !== sweeps) {
        one.sweep = sweeps;
        input.push(request(jobId, one));
      }
    }
    return input;
  }

  /** Goes on while calls succeed: a store that is down gets only a few calls a second. */
  async function sweep(): Promise<void> {
    waking = undefined;
    if (isSweeping) return;
    isSweeping = true;
    sweeps += 1;
    while ((await Promise.all(next())).some((answer) => answer !== 'later')) {}
    isSweeping = false;
    if (pending.size === 0) return;
    const fields = { pending: pending.size, dropped };
    log.warn(fields, 'refused jobs are not discarded yet; dropped ones expire in the store');
    dropped = 0;
    waking ??= wheel.set(RETRY_MS, () => void sweep());
  }

  return {
    async now(jobId) {
      const one = enter(jobId);
      const taken = await request(jobId, one);
      if (taken === 'later' && !isSweeping) waking ??= wheel.set(RETRY_MS, () => void sweep());
      return taken;
    },
    soon(jobId) {
      enter(jobId);
      if (waking === undefined) void sweep();
    },
    isWithdrawn: (jobId) => pending.has(jobId) || gone.has(jobId),
    hold(jobId) {
      // The queue is nearly always empty: then no lookup is made.
      const one = pending.size === 0 ? undefined : pending.get(jobId);
      if (one === undefined) return undefined;
      one.holds += 1;
      return one.underWay?.then(() => undefined);
    },
    resume(jobId) {
      const one = pending.get(jobId);
      if (one !== undefined) one.holds = Math.max(0, one.holds - 1);
    },
    forget(jobId) {
      if (pending.size > 0) pending.delete(jobId);
      if (engine.drivers !== undefined) gone.delete(jobId);
    },
  };
}
