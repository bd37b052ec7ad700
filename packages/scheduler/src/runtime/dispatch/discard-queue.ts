/**
 * Background actor: takes back what was admitted and then refused, also when the store cannot be asked at once. What stays bound would
 * answer every repeat with a job that nobody drives. Bounded: what finds no room here ends in the store by its own time.
 */
import type { JobId } from '../../domain/ids.ts';
import type { JobStore } from '../../ports/job-store.ts';
import type { Timer } from '../attempts/timer-wheel.ts';
import type { Engine } from '../engine.ts';

export type DiscardResult = Awaited<ReturnType<JobStore['discard']>> | 'later';

export interface DiscardQueue {
  /** Asks at once, and goes on asking in the background should that fail. */
  now(jobId: JobId): Promise<DiscardResult>;
  /** Whoever refuses does not wait for it. */
  soon(jobId: JobId): void;
  /** Refused, and discarded just now or as soon as the store answers. */
  isWithdrawn(jobId: JobId): boolean;
  /** Something under that id is about to be admitted: nothing is discarded until `resume`. Resolves when nothing is being, either. */
  hold(jobId: JobId): Promise<void> | undefined;
  /** It was not admitted: what was refused before is to be taken back as ever. */
  resume(jobId: JobId): void;
  /** It was admitted, and is another job than the one that was refused. */
  forget(jobId: JobId): void;
}

interface Pending {
  /** The record ends by itself soon after its deadline. */
  readonly until: number;
  readonly drops: number;
  holds: number;
  underWay: Promise<DiscardResult> | undefined;
  /** The sweep in which it was tried last. */
  sweep: number;
}

/** A store that was down is asked again after this long; and as long a repeat may still be asking who drives what is gone. */
const RETRY_MS = 1_000;
const AT_ONCE = 32;

export function createDiscardQueue(engine: Engine, deps: { maxPending: number }): DiscardQueue {
  const { clock, wheel, store, log, settings } = engine;
  /** Those not tried for longest come first. */
  const pending = new Map<JobId, Pending>();
  /** When they went, oldest first; only among instances. */
  const gone = new Map<JobId, number>();
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
    if (engine.drivers === undefined) return;
    gone.delete(jobId);
    gone.set(jobId, clock.now());
    for (const [oldest, at] of gone) {
      if (gone.size <= deps.maxPending && clock.now() - at < RETRY_MS) return;
      gone.delete(oldest);
    }
  }

  /** Whoever took over what we drove decides about it; and a job in flight is another than the one that was refused. */
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
      log.debug({ job_id: jobId, err: fault }, 'a refused job could not be discarded yet');
      if (pending.delete(jobId)) pending.set(jobId, one);
      return 'later';
    }
  }

  /** As many as may be asked at once, none twice in a sweep. */
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

  /** Goes on as long as somebody answers: a store that is down is asked a few times a second, whatever waits. */
  async function sweep(): Promise<void> {
    waking = undefined;
    if (isSweeping) return;
    isSweeping = true;
    sweeps += 1;
    while ((await Promise.all(next())).some((answer) => answer !== 'later')) {}
    isSweeping = false;
    if (pending.size === 0) return;
    const fields = { pending: pending.size, dropped };
    log.warn(fields, 'refused jobs could not be discarded yet; those dropped end by their own time');
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
    isWithdrawn: (jobId) => pending.has(jobId) || clock.now() - (gone.get(jobId) ?? 0) < RETRY_MS,
    hold(jobId) {
      // Nearly always there is nothing: then not even the name is looked at.
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
      if (gone.size > 0) gone.delete(jobId);
    },
  };
}
