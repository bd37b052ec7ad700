/** A store that takes down what it is told again, and may be slow or silent. */
import { type Affected, createFailoverReplay } from '../../src/cluster/recovery/failover-replay.ts';
import type { JobRecord } from '../../src/domain/job.ts';
import { draftJob } from '../contracts/job-draft.ts';
import { faulty } from '../support/faulty.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createTally, QUIET } from './post-rig.ts';

export const [RESERVATION_MS, RUNNING_MS] = [5_000, 65_000];

export const jobNamed = (jobId: string, parts: Partial<JobRecord> = {}): JobRecord => ({
  ...draftJob(0),
  jobId,
  ...parts,
});
export const runningOn = (nodeId: string, jobId: string): JobRecord =>
  jobNamed(jobId, { state: 'RUNNING', fence: { nodeId, attempt: 1 } });

export const NOTHING: Affected = { job: () => false, record: () => false, node: () => false };
export const onNode = (nodeId: string): Affected => ({ ...NOTHING, node: (id) => id === nodeId });

export function start(jobs: readonly JobRecord[]) {
  const clock = createManualClock();
  const { meter, counted } = createTally();
  const state = {
    jobs,
    deaf: new Set<string>(),
    ended: new Set<string>(),
    slotLeftMs: new Map<string, number>(),
    /** By their leases. */
    reservationLeftMs: new Map<string, number>(),
    /** Of n1 and n2. */
    doubted: [] as string[],
    givenBack: new Set<string>(),
    givenUp: new Set<string>(),
    releases: [] as (readonly [string, string])[],
    fences: [] as (readonly [string, string])[],
    /** Told as what their nodes have. */
    taken: [] as string[],
    others: 0,
    whileTelling: () => {},
  };
  const told: string[] = [];
  const store = faulty(
    {
      async reassert(nodeId: string, lease: string, ttlMs: number, isTaken: boolean) {
        if (isTaken) state.taken.push(lease);
        told.push(`${nodeId} ${lease} ${ttlMs}`);
        state.whileTelling();
      },
      async fence(nodeId: string, lease: string) {
        told.push(`${nodeId} ${lease} given up`);
      },
      async giveBack(nodeId: string, lease: string) {
        told.push(`${nodeId} ${lease} free`);
      },
      async restore({ jobId }: JobRecord) {
        told.push(jobId);
      },
    },
    [],
    clock,
  );
  const failoverReplay = createFailoverReplay({
    jobs: () => state.jobs,
    isInFlight: (jobId) => !state.ended.has(jobId),
    holdsSlot: (jobId, attempt) => !state.ended.has(jobId) && !state.givenBack.has(`${jobId}:${attempt}`),
    isGivenUp: (jobId, attempt) => state.givenUp.has(`${jobId}:${attempt}`),
    fence: store.port.fence,
    restore: store.port.restore,
    reassert: store.port.reassert,
    fenced: () => state.fences,
    givenBack: () => state.releases,
    giveBack: store.port.giveBack,
    doubtSlots: (isAffected) => {
      for (const nodeId of ['n1', 'n2']) if (isAffected(nodeId)) state.doubted.push(nodeId);
    },
    others: () => {
      state.others += 1;
      told.push('others');
    },
    acknowledges: (nodeId) => !state.deaf.has(nodeId),
    clock,
    reservationTtlMs: RESERVATION_MS,
    slotLeftMs: (jobId) => state.slotLeftMs.get(jobId) ?? RUNNING_MS,
    reservationLeftMs: (jobId, attempt) =>
      state.reservationLeftMs.get(`${jobId}:${attempt}`) ?? RESERVATION_MS,
    log: QUIET,
    meter,
  });
  return { clock, counted, state, told, store, failoverReplay };
}
