/** Instances that find the jobs of other instances through repeated requests. */
import { createDriverClaims } from '../../../src/cluster/driver/driver-claims.ts';
import type { JobRecord } from '../../../src/domain/job.ts';
import type { AudioAt } from '../../../src/domain/job-spec.ts';
import { faulty } from '../../support/faulty.ts';
import {
  type Messaging,
  type MessagingInstance,
  QUIET,
  startMessaging,
} from '../messaging/message-bus-rig.ts';
import { createSharedJobs, type SharedJobs } from './shared-jobs-rig.ts';

export const JOB_DEADLINE_MS = 90_000;
export const PLACING_RESULT_MS = 10_000;
/** Long enough for audio to be offered once more. */
export const SOON_MS = 300;
export const AT: AudioAt = { url: 'http://me:5010/v1/audio/1', token: 'one-job', bytes: 32_000 };
export const REFUSED = { kind: 'refused', code: 'NO_CAPABLE_NODE', message: 'nobody can' } as const;

function withClaims(messaging: Messaging, jobs: SharedJobs, instance: MessagingInstance) {
  const state = {
    /** The membership view, which may be old. */
    look: instance.living,
    dead: new Set<string>(),
    audio: new Map<string, AudioAt>(),
    drives: new Set<string>(),
    returned: [] as string[],
    result: async (_: string): Promise<{ kind: 'placed' } | typeof REFUSED | undefined> => undefined,
  };
  const store = faulty(
    { ...jobs.takeoverStoreOf(() => instance.driver), driverOf: jobs.driverOf },
    [],
    messaging.clock,
  );
  const claims = createDriverClaims({
    takeoverStore: store.port,
    driverOf: store.port.driverOf,
    driver: () => instance.driver,
    living: () => state.look(),
    livingNow: async (instanceId) => (await messaging.instances.living([instanceId])).get(instanceId),
    isDead: (instanceId) => state.dead.has(instanceId),
    bus: instance.bus,
    audioAt: (jobId) => state.audio.get(jobId),
    audioReturned: (jobId, { url }) => void state.returned.push(`${jobId} ${url}`),
    drives: (jobId) => state.drives.has(jobId),
    placingResultHere: (jobId) => state.result(jobId),
    isKnownHere: (jobId) => state.drives.has(jobId),
    recordOf: (jobId) => Promise.resolve(jobs.store.get(jobId)),
    resume({ jobId }) {
      state.drives.add(jobId);
      state.result = async () => ({ kind: 'placed' });
    },
    placingResultMs: PLACING_RESULT_MS,
    clock: messaging.clock,
    jobDeadlineMs: JOB_DEADLINE_MS,
    log: QUIET,
  });
  return { ...claims, instance, driver: instance.driver, state, store };
}

export async function startClaims() {
  const messaging = startMessaging();
  const jobs = createSharedJobs(messaging.clock);
  const join = async (instanceId: string, incarnation = `${instanceId}-1`) =>
    withClaims(messaging, jobs, await messaging.join(instanceId, { incarnation }));
  const [me, other] = [await join('me'), await join('other')];
  const drivenBy = async (instance: typeof me, parts: Partial<JobRecord> = {}): Promise<JobRecord> => {
    const job = await jobs.add(instance.driver, parts);
    instance.state.drives.add(job.jobId);
    return job;
  };
  const job = await drivenBy(other);
  return { ...messaging, jobs, join, me, other, drivenBy, job };
}
