/**
 * Background actor: after a failover of Redis, or when it was emptied, writes again what Redis may have lost and what only this
 * instance knows: the jobs it drives, their leases, its recent writes and its nodes.
 */
import type { JobId, NodeId, TenantId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { LeaseId } from '../../domain/lease.ts';
import type { HeldLease, RecentLease, ReplaySnapshot } from '../../domain/replay-snapshot.ts';
import type { RoomId } from '../../domain/room.ts';
import type { CountUsage } from '../../domain/usage.ts';
import { sleep } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';

/** What is stored where writes may be lost. */
export interface Affected {
  /** The record of the job, or the index entry with which this instance finds it. */
  readonly job: (jobId: JobId) => boolean;
  /** The record of the job, and so the binding of its request. */
  readonly record: (jobId: JobId) => boolean;
  readonly node: (nodeId: NodeId) => boolean;
  /** The log, the record and the followers of the room. */
  readonly room: (roomId: RoomId) => boolean;
  /** What the tenant has used. */
  readonly usage: (tenantId: TenantId) => boolean;
}

export const EVERYTHING: Affected = {
  job: () => true,
  record: () => true,
  room: () => true,
  node: () => true,
  usage: () => true,
};

export interface FailoverReplay {
  run(affected: Affected): Promise<void>;
  /** Resolves when the leases of the node are written again: until then a reserve could take an occupied slot. */
  settled(nodeId: NodeId): Promise<void> | undefined;
  /**
   * Resolves when the other instances had time to write their jobs again: only then does a missing record prove that a request has no
   * job (I3).
   */
  othersReplayed(jobId: JobId): Promise<void> | undefined;
  /** The record may be lost, by that rule. */
  mayBeLost(jobId: JobId): boolean;
}

const AT_ONCE = 64;
const SETTLED_WITHIN_MS = 2_000;
/** Instances check the masters once a second, and notice a master that does not answer sooner. */
const OTHERS_REPLAY_WITHIN_MS = 2_000;

export function createFailoverReplay(deps: {
  /** What this instance knows now. With `jobIds`: only these jobs, and no recent writes. */
  snapshot: (jobIds?: readonly JobId[]) => ReplaySnapshot;
  /** `isHandedOver`: the node has the job, so its reports can prove the lease gone. */
  reassert: (nodeId: NodeId, lease: LeaseId, ttlMs: number, isHandedOver: boolean) => Promise<unknown>;
  abandon: (nodeId: NodeId, lease: LeaseId, endsInMs?: number) => Promise<unknown>;
  release: (nodeId: NodeId, lease: LeaseId) => Promise<unknown>;
  restore: (job: JobRecord) => Promise<unknown>;
  /** Counts what settled jobs have used; the store counts each job once. */
  countUsage: CountUsage;
  /** Nodes, claims, sessions and rooms of this instance: each writes itself again. */
  others: (affected: Affected) => void;
  clock: Clock;
  log: Log;
  meter: Meter;
}): FailoverReplay {
  const { clock, log, meter } = deps;
  const underWay = new Set<{ readonly affected: Affected; readonly done: Promise<void> }>();
  /** What may be lost, and until when another instance may still write it again. */
  let losses: readonly { readonly affected: Affected; readonly until: number }[] = [];

  async function each<T>(
    all: readonly T[],
    what: string,
    write: (one: T) => Promise<unknown>,
  ): Promise<void> {
    for (let from = 0; from < all.length; from += AT_ONCE) {
      const written = await Promise.allSettled(all.slice(from, from + AT_ONCE).map(write));
      const failed = written.filter(({ status }) => status === 'rejected').length;
      meter.count('scheduler_failover_replays_total', { what }, written.length - failed);
      // The next move of a job compares its record, and writes it again if it is lost.
      if (failed > 0) log.warn({ what, failed }, 'could not write all state again after a failover');
    }
  }

  /** The job as it is now: it may have moved, ended or been withdrawn since the run began. */
  const inFlight = (jobId: JobId) => deps.snapshot([jobId]).inFlight[0];

  async function writeLease({ jobId, nodeId, attempt, lease }: LeaseOfJob): Promise<void> {
    const find = (leases: readonly HeldLease[] = []): HeldLease | undefined =>
      leases.find((one) => one.nodeId === nodeId && one.attempt === attempt);
    const held = find(inFlight(jobId)?.leases);
    // A lease that was released meanwhile would block its slot for a minute.
    if (held === undefined || held.isReleased) return;
    if (held.leftMs > 0) await deps.reassert(nodeId, lease, held.leftMs, held.isHandedOver);
    const job = inFlight(jobId);
    if (job === undefined) return;
    // If the attempt was abandoned meanwhile, its mark found no lease. Without the mark no report of the node frees the slot.
    const after = find(job.leases);
    if (after === undefined || after.isAbandoned) await deps.abandon(nodeId, lease);
  }

  async function writeRecord(job: JobRecord): Promise<void> {
    // A record that was withdrawn meanwhile must not come back: it would have no driver.
    const record = isSettled(job.state) ? job : inFlight(job.jobId)?.record;
    if (record !== undefined) await deps.restore(record);
  }

  async function replay(affected: Affected): Promise<void> {
    const { inFlight: jobs, settled } = deps.snapshot();
    const leases = leasesOf(jobs).filter(({ nodeId }) => affected.node(nodeId));
    await each(leases, 'leases', writeLease);
    // After the leases: a lease that was released or abandoned meanwhile is in these lists.
    const { inFlight: now, abandoned, released } = deps.snapshot();
    const held = new Set(leasesOf(now).flatMap((one) => (one.isReleased ? [] : [one.lease])));
    const isLost = ({ lease, nodeId }: RecentLease): boolean => affected.node(nodeId) && !held.has(lease);
    await each(abandoned.filter(isLost), 'fences', ({ lease, nodeId, endsAt }) =>
      deps.abandon(nodeId, lease, endsAt === undefined ? undefined : Math.max(0, endsAt - clock.now())),
    );
    await each(released.filter(isLost), 'releases', ({ lease, nodeId }) => deps.release(nodeId, lease));
    await each(
      [...jobs.map(({ record }) => record), ...settled].filter(({ jobId }) => affected.job(jobId)),
      'jobs',
      writeRecord,
    );
    for (const { tenantId, jobId, usage } of settled)
      if (usage !== undefined && affected.usage(tenantId)) deps.countUsage(tenantId, { jobId, usage });
    log.info({ jobs: jobs.length + settled.length }, 'wrote state again after a failover');
  }

  const currentLosses = () => losses.filter(({ until }) => until > clock.now());

  function lostUntil(jobId: JobId): number | undefined {
    if (losses.length === 0) return undefined;
    losses = currentLosses();
    const ends = losses.flatMap(({ affected, until }) => (affected.record(jobId) ? [until] : []));
    return ends.length === 0 ? undefined : Math.max(...ends);
  }

  async function settled(runs: readonly Promise<void>[]): Promise<void> {
    let cancel = () => {};
    // A shard that stays down must not block reserves on other shards.
    const limit = new Promise<void>((resolve) => {
      cancel = clock.after(SETTLED_WITHIN_MS, resolve);
    });
    await Promise.race([Promise.allSettled(runs), limit]);
    cancel();
  }

  return {
    async run(affected) {
      losses = [...currentLosses(), { affected, until: clock.now() + OTHERS_REPLAY_WITHIN_MS }];
      deps.others(affected);
      const done = replay(affected).catch((fault: unknown) =>
        log.error({ err: fault }, 'cannot write state again after a failover'),
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
    mayBeLost: (jobId) => lostUntil(jobId) !== undefined,
    othersReplayed(jobId) {
      const until = lostUntil(jobId);
      return until === undefined ? undefined : sleep(clock, until - clock.now());
    },
  };
}

interface LeaseOfJob extends HeldLease {
  readonly jobId: JobId;
}

const leasesOf = (jobs: ReplaySnapshot['inFlight']): readonly LeaseOfJob[] =>
  jobs.flatMap(({ record: { jobId }, leases }) => leases.map((one) => ({ ...one, jobId })));
