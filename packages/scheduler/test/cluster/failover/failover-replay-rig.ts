/** A store that records what is written again after a failover, and may be slow or fail. */
import { type Affected, createFailoverReplay } from '../../../src/cluster/recovery/failover-replay.ts';
import { type Attempt, isSettled, type JobRecord } from '../../../src/domain/job.ts';
import type { HeldLease, RecentLease, ReplaySnapshot } from '../../../src/domain/replay-snapshot.ts';
import { draftJob } from '../../contracts/job-draft.ts';
import { faulty } from '../../support/faulty.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createTally, QUIET } from '../messaging/message-bus-rig.ts';

/** The rest of a lease, unless a test sets another. */
export const LEFT_MS = 65_000;

export const jobNamed = (jobId: string, parts: Partial<JobRecord> = {}): JobRecord => ({
  ...draftJob(0),
  jobId,
  ...parts,
});
export const recent = (lease: string, nodeId: string): RecentLease => ({ lease, nodeId, endsAt: undefined });
export const runningOn = (nodeId: string, jobId: string): JobRecord =>
  jobNamed(jobId, { state: 'RUNNING', fence: { nodeId, attempt: 1 } });

export const NOTHING: Affected = {
  job: () => false,
  record: () => false,
  node: () => false,
  room: () => false,
  usage: () => false,
};
export const onNode = (nodeId: string): Affected => ({ ...NOTHING, node: (id) => id === nodeId });

export function start(jobs: readonly JobRecord[]) {
  const clock = createManualClock();
  const { meter, counted } = createTally();
  const state = {
    jobs,
    ended: new Set<string>(),
    /** By lease. */
    leftMs: new Map<string, number>(),
    released: new Set<string>(),
    abandonedNow: new Set<string>(),
    releases: [] as RecentLease[],
    abandoned: [] as RecentLease[],
    /** Leases that were written as committed. */
    taken: [] as string[],
    others: 0,
    whileWriting: () => {},
  };
  const written: string[] = [];
  const store = faulty(
    {
      async reassert(nodeId: string, lease: string, ttlMs: number, isTaken: boolean) {
        if (isTaken) state.taken.push(lease);
        written.push(`${nodeId} ${lease} ${ttlMs}`);
        state.whileWriting();
      },
      async abandon(nodeId: string, lease: string) {
        written.push(`${nodeId} ${lease} abandoned`);
      },
      async release(nodeId: string, lease: string) {
        written.push(`${nodeId} ${lease} free`);
      },
      async restore({ jobId }: JobRecord) {
        written.push(jobId);
      },
    },
    [],
    clock,
  );
  const leaseOf = ({ jobId }: JobRecord, of: Attempt, isHandedOver: boolean): HeldLease => {
    const lease = `${jobId}:${of.attempt}`;
    return {
      ...of,
      lease,
      isHandedOver,
      leftMs: state.leftMs.get(lease) ?? LEFT_MS,
      isReleased: state.released.has(lease),
      isAbandoned: state.abandonedNow.has(lease),
    };
  };
  const leasesOf = (job: JobRecord): HeldLease[] => [
    ...(job.fence === undefined ? [] : [leaseOf(job, job.fence, true)]),
    ...(job.intent === undefined ? [] : [leaseOf(job, job.intent, false)]),
  ];
  function snapshot(jobIds?: readonly string[]): ReplaySnapshot {
    const jobs = [...state.jobs].filter(({ jobId }) => jobIds?.includes(jobId) !== false);
    return {
      inFlight: jobs
        .filter((job) => !isSettled(job.state) && !state.ended.has(job.jobId))
        .map((record) => ({ record, leases: leasesOf(record) })),
      settled: jobs.filter((job) => isSettled(job.state)),
      released: state.releases,
      abandoned: state.abandoned,
    };
  }
  const failoverReplay = createFailoverReplay({
    snapshot,
    abandon: store.port.abandon,
    restore: store.port.restore,
    countUsage: (tenantId, { jobId }) => void written.push(`${tenantId} used ${jobId}`),
    reassert: store.port.reassert,
    release: store.port.release,
    others: () => {
      state.others += 1;
      written.push('others');
    },
    clock,
    log: QUIET,
    meter,
  });
  return { clock, counted, state, written, store, failoverReplay };
}
