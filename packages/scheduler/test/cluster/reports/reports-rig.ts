/** Instances that report about one another's jobs, each with an engine that records what it is given. */

import { createReceiveReports, type DriverService } from '../../../src/cluster/driver/receive-reports.ts';
import { createDriverCache } from '../../../src/cluster/holder/driver-cache.ts';
import { createFindDriver } from '../../../src/cluster/holder/find-driver.ts';
import { createForwardReports, type ForwardReports } from '../../../src/cluster/holder/forward-reports.ts';
import { createPendingReports } from '../../../src/cluster/holder/pending-reports.ts';
import type { CancelOutcome, ReportResult } from '../../../src/domain/node-report.ts';
import { faulty } from '../../support/faulty.ts';
import {
  type Messaging,
  type MessagingInstance,
  QUIET,
  startMessaging,
} from '../messaging/message-bus-rig.ts';
import { createSharedJobs, type SharedJobs } from '../takeover/shared-jobs-rig.ts';

export const ANSWER_MS = 3_000;
/** Long enough for pending reports to be tried once more. */
export const SOON_MS = 300;
export const INLINE_MAX_BYTES = 100;
const HOLD_MS = 90_000;

export function withEngine(
  messaging: Messaging,
  jobs: SharedJobs,
  instance: MessagingInstance,
  inlineMaxBytes = INLINE_MAX_BYTES,
) {
  const { clock } = messaging;
  const state = {
    /** What its engine was given, in order. */
    applied: [] as string[],
    audio: [] as string[],
    drives: new Set<string>(),
    answer: async (jobId: string): Promise<ReportResult> => ({
      kind: 'accepted',
      job: await jobs.record(jobId),
    }),
    cancelled: { kind: 'cancelled' } as CancelOutcome | Promise<CancelOutcome>,
    /** Jobs that the store has lost. */
    lost: new Set<string>(),
    /** Until it resolves the store may have lost jobs. */
    replayed: undefined as Promise<void> | undefined,
    /** How often a caller waited for `replayed`. */
    waits: 0,
    /** Instances that joined after the last membership read. */
    joined: new Set<string>(),
  };
  const apply = (what: string, jobId: string): Promise<ReportResult> => {
    state.applied.push(`${jobId} ${what}`);
    return state.answer(jobId);
  };
  const driverCache = createDriverCache({ clock, keepMs: 90_000 });
  const store = faulty({ driverOf: jobs.driverOf }, [], clock);
  const pending = createPendingReports({
    clock,
    log: QUIET,
    meter: instance.meter,
    holdMs: HOLD_MS,
    maxHeld: 100,
    maxBytes: 1_000_000,
  });
  const local = {
    dispatched: ({ jobId }, { generation }) => apply(`dispatched by connection ${generation}`, jobId),
    undeliverable: ({ jobId }, reason) => apply(`undeliverable ${reason}`, jobId),
    acknowledge: ({ jobId }) => apply('acknowledged', jobId),
    tell: ({ jobId }, { textTranslated }) => apply(`told ${textTranslated}`, jobId),
    finish({ jobId }, { ttsAudio, extra }) {
      state.audio.push(extra?.tts_audio_dropped === true ? 'dropped' : ttsAudio);
      return apply('finished', jobId);
    },
    fail: ({ jobId }, { code }) => apply(`failed ${code}`, jobId),
    async cancel(jobId, reason, code = 'JOB_CANCELLED') {
      state.applied.push(`${jobId} ${reason} ${code}`);
      return state.cancelled;
    },
    drives: (jobId) => state.drives.has(jobId),
  } satisfies DriverService;
  const findDriver = createFindDriver({
    drives: local.drives,
    driverOf: async (jobId) => (state.lost.has(jobId) ? undefined : store.port.driverOf(jobId)),
    driver: () => instance.driver,
    async living(expected) {
      const seen = [...(await instance.living())];
      return new Map(seen.filter(([name]) => name === expected || !state.joined.has(name)));
    },
    replayed() {
      state.waits += 1;
      return state.replayed;
    },
    mayBeLost: () => state.replayed !== undefined,
    driverCache,
  });
  const { apply: applyReport } = createReceiveReports({
    bus: instance.bus,
    local,
    findDriver,
    passOn: (report) => forwardReports.passOn(report),
    answerMs: ANSWER_MS,
    clock,
  });
  const forwardReports: ForwardReports = createForwardReports({
    bus: instance.bus,
    local,
    apply: applyReport,
    findDriver,
    driverCache,
    generationOf: () => undefined,
    pending,
    maxResultBytes: inlineMaxBytes,
    answerMs: ANSWER_MS,
  });
  return {
    ...forwardReports,
    instance,
    driver: instance.driver,
    state,
    driverCache,
    store,
    pending,
  };
}

export type ReportingInstance = ReturnType<typeof withEngine>;

/** `holder` has the node, `driver` the job; `third` is another instance. */
export async function startInstances({ inlineMaxBytes = INLINE_MAX_BYTES } = {}) {
  const messaging = startMessaging({ maxMessages: 20 });
  const jobs = createSharedJobs(messaging.clock);
  const join = async (instanceId: string, incarnation?: string): Promise<ReportingInstance> =>
    withEngine(
      messaging,
      jobs,
      await messaging.join(instanceId, incarnation === undefined ? {} : { incarnation }),
      inlineMaxBytes,
    );
  const [holder, driver, third] = [await join('holder'), await join('driver'), await join('third')];

  async function driveBy(instance: ReportingInstance): Promise<string> {
    const { jobId } = await jobs.add(instance.driver);
    instance.state.drives.add(jobId);
    return jobId;
  }
  const jobId = await driveBy(driver);
  const answer = { jobId, nodeId: 'node-1', attempt: 1 };
  return {
    ...messaging,
    jobs,
    join,
    holder,
    driver,
    third,
    driveBy,
    jobId,
    answer,
    /** The successor drives the job from now on, and its former driver does not. */
    takeOver(successor: ReportingInstance): void {
      driver.state.drives.delete(jobId);
      jobs.assign(jobId, successor.driver);
      successor.state.drives.add(jobId);
    },
    /** Lets a promise and the messages behind it come to an end; answers with what was thrown, if anything was. */
    async outcomeOf<T>(pending: Promise<T>): Promise<T | unknown> {
      const outcome = pending.catch((fault: unknown) => fault);
      await messaging.settle();
      return outcome;
    },
  };
}
