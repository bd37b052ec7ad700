/**
 * Background actor: tells a store that may have lost writes — a master changed, or it was emptied — what this instance knows to be
 * true: the jobs it drives, the slots they hold, its nodes. What the store lost nobody else can give back to it.
 */
import type { JobId, NodeId } from '../../domain/ids.ts';
import { type Attempt, isSettled, type JobRecord } from '../../domain/job.ts';
import { type LeaseId, leaseId } from '../../domain/lease.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';

/** What lies where writes may be lost. */
export interface Affected {
  /** Its record, or what this instance needs to find it. */
  readonly job: (jobId: JobId) => boolean;
  /** Its record, and so that there is one for its request. */
  readonly record: (jobId: JobId) => boolean;
  readonly node: (nodeId: NodeId) => boolean;
}

export const EVERYTHING: Affected = { job: () => true, record: () => true, node: () => true };

/** A lease that this instance released or abandoned. */
export interface RecentLease {
  readonly nodeId: NodeId;
  readonly lease: LeaseId;
  /** When an abandoned one ends at the latest. */
  readonly endsAt: number | undefined;
}

export interface FailoverReplay {
  run(affected: Affected): Promise<void>;
  /** Resolves when nothing that concerns the node is still to be told: a slot that is taken is not given away meanwhile. */
  settled(nodeId: NodeId): Promise<void> | undefined;
  /**
   * Resolves when also the other instances had time to tell the store of their jobs: only then has a request that the store does not know
   * no job (I3).
   */
  othersTold(jobId: JobId): Promise<void> | undefined;
  /** There is something to wait for, by that. */
  mayBeLost(jobId: JobId): boolean;
}

const AT_ONCE = 64;
const SETTLED_WITHIN_MS = 2_000;
/** They look at the masters once a second, and notice one that does not answer sooner. */
const OTHERS_TELL_WITHIN_MS = 2_000;

export function createFailoverReplay(deps: {
  jobs: () => Iterable<JobRecord>;
  isInFlight: (jobId: JobId) => boolean;
  /** It is, and the slot of that attempt was not given back. */
  holdsSlot: (jobId: JobId, attempt: number) => boolean;
  /** It is in flight, and another attempt than that one counts, or is about to. */
  isGivenUp: (jobId: JobId, attempt: number) => boolean;
  abandon: (nodeId: NodeId, lease: string, endsInMs?: number) => Promise<unknown>;
  restore: (job: JobRecord) => Promise<unknown>;
  /** `isTaken`: its node has the job. */
  reassert: (nodeId: NodeId, lease: LeaseId, ttlMs: number, isTaken: boolean) => Promise<unknown>;
  /** Leases that this instance abandoned a moment ago. */
  abandoned: () => readonly RecentLease[];
  /** Leases that this instance released a moment ago. */
  released: () => readonly RecentLease[];
  release: (nodeId: NodeId, lease: LeaseId) => Promise<unknown>;
  /** Own nodes, claims and sessions: each knows how to tell itself again. */
  others: () => void;
  clock: Clock;
  /** How long the lease of the attempt is still needed, if it may have been handed to its node; 0: it was not sent. */
  leaseLeftMs: (jobId: JobId, attempt: number) => number;
  log: Log;
  meter: Meter;
}): FailoverReplay {
  const { log, meter } = deps;
  const underWay = new Set<{ readonly affected: Affected; readonly done: Promise<void> }>();
  /** What may have been lost, and until when somebody may still have to tell of it. */
  let doubts: readonly { readonly affected: Affected; readonly until: number }[] = [];

  async function each<T>(all: readonly T[], what: string, tell: (one: T) => Promise<unknown>): Promise<void> {
    for (let from = 0; from < all.length; from += AT_ONCE) {
      const told = await Promise.allSettled(all.slice(from, from + AT_ONCE).map(tell));
      const lost = told.filter(({ status }) => status === 'rejected').length;
      meter.count('scheduler_failover_replays_total', { what }, told.length - lost);
      // What cannot be told now is told by whatever happens to it next: every later write is compared and written anew.
      if (lost > 0) log.warn({ what, lost }, 'the store did not take all it may have lost');
    }
  }

  async function tellAll(affected: Affected): Promise<void> {
    const jobs = [...deps.jobs()];
    const live = jobs.filter(({ state }) => !isSettled(state));
    const leases = leasesOf(live, affected);
    await each(leases, 'leases', async (held) => {
      const { jobId, attempt, nodeId, lease } = held;
      // It may have been given back while others were told: then it would be held for a minute by nobody.
      if (!deps.holdsSlot(jobId, attempt)) return;
      const leftMs = deps.leaseLeftMs(jobId, attempt);
      // A store that lost an outcome may have had its driver's successor believe that the node still works: its reports tell.
      if (leftMs > 0) await deps.reassert(nodeId, lease, leftMs, held.isHandedOver);
      // Given up while it was told: the mark that says so found no lease, and without it no report of the node could free the slot.
      if (deps.isGivenUp(jobId, attempt)) await deps.abandon(nodeId, lease);
    });
    // One that its node took up again after all is held again.
    const held = new Set(
      leases.flatMap((one) => (deps.holdsSlot(one.jobId, one.attempt) ? [one.lease] : [])),
    );
    const isLost = ({ lease, nodeId }: RecentLease): boolean => affected.node(nodeId) && !held.has(lease);
    await each(deps.abandoned().filter(isLost), 'fences', ({ lease, nodeId, endsAt }) =>
      deps.abandon(nodeId, lease, endsAt === undefined ? undefined : Math.max(0, endsAt - deps.clock.now())),
    );
    await each(deps.released().filter(isLost), 'releases', ({ lease, nodeId }) =>
      deps.release(nodeId, lease),
    );
    await each(
      jobs.filter(({ jobId }) => affected.job(jobId)),
      'jobs',
      async (job) => {
        // Nor may a record come back that was taken back meanwhile: nobody would ever end it. One that has its outcome was not.
        if (isSettled(job.state) || deps.isInFlight(job.jobId)) await deps.restore(job);
      },
    );
    log.info({ jobs: jobs.length }, 'told the store again what it may have lost');
  }

  const doubtful = () => doubts.filter(({ until }) => until > deps.clock.now());

  function doubtfulUntil(jobId: JobId): number | undefined {
    if (doubts.length === 0) return undefined;
    doubts = doubtful();
    const ends = doubts.flatMap(({ affected, until }) => (affected.record(jobId) ? [until] : []));
    return ends.length === 0 ? undefined : Math.max(...ends);
  }

  async function settled(runs: readonly Promise<void>[]): Promise<void> {
    let cancel = () => {};
    // A shard that stays dead must not keep those waiting who ask another one.
    const limit = new Promise<void>((resolve) => {
      cancel = deps.clock.after(SETTLED_WITHIN_MS, resolve);
    });
    await Promise.race([Promise.allSettled(runs), limit]);
    cancel();
  }

  return {
    async run(affected) {
      doubts = [...doubtful(), { affected, until: deps.clock.now() + OTHERS_TELL_WITHIN_MS }];
      deps.others();
      const done = tellAll(affected).catch((fault: unknown) =>
        log.error({ err: fault }, 'the store could not be told again'),
      );
      const own = { affected, done };
      underWay.add(own);
      await done;
      underWay.delete(own);
    },
    settled(nodeId) {
      const runs = [...underWay].filter(({ affected }) => affected.node(nodeId));
      return runs.length === 0 ? undefined : settled(runs.map(({ done }) => done));
    },
    mayBeLost: (jobId) => doubtfulUntil(jobId) !== undefined,
    othersTold(jobId) {
      const until = doubtfulUntil(jobId);
      return until === undefined
        ? undefined
        : new Promise((resolve) => deps.clock.after(until - deps.clock.now(), resolve));
    },
  };
}

interface HeldLease extends Attempt {
  readonly jobId: JobId;
  readonly lease: string;
  /** The record says that it was handed over: then reports of its node can prove the lease gone. */
  readonly isHandedOver: boolean;
}

function leasesOf(jobs: readonly JobRecord[], affected: Affected): readonly HeldLease[] {
  const held = ({ jobId }: JobRecord, attempt: Attempt | undefined, isHandedOver: boolean): HeldLease[] =>
    attempt === undefined || !affected.node(attempt.nodeId)
      ? []
      : [{ ...attempt, jobId, lease: leaseId(jobId, attempt.attempt), isHandedOver }];
  return jobs.flatMap((job) => [...held(job, job.fence, true), ...held(job, job.intent, false)]);
}
