/** Instances that hear of one another's jobs, each with a desk that writes down what it is told. */

import { createDriverCache } from '../../src/cluster/holder/driver-cache.ts';
import { createPendingReports } from '../../src/cluster/holder/pending-reports.ts';
import { createRemoteJobs } from '../../src/cluster/holder/remote-jobs.ts';
import { fitResult } from '../../src/domain/job-spec.ts';
import type { CancelOutcome, ReportResult } from '../../src/domain/node-report.ts';
import { faulty } from '../support/faulty.ts';
import { createSharedJobs, type SharedJobs } from './jobs-rig.ts';
import { type Post, type PostedInstance, QUIET, startPost } from './post-rig.ts';

export const ANSWER_MS = 3_000;
/** Long enough for held answers to be tried once more. */
export const SOON_MS = 300;
export const INLINE_MAX_BYTES = 100;
const HOLD_MS = 90_000;

export function withDesk(
  post: Post,
  jobs: SharedJobs,
  instance: PostedInstance,
  inlineMaxBytes = INLINE_MAX_BYTES,
) {
  const { clock } = post;
  const state = {
    /** What its engine was told, in order. */
    told: [] as string[],
    audio: [] as string[],
    drives: new Set<string>(),
    say: async (jobId: string): Promise<ReportResult> => ({
      kind: 'accepted',
      job: await jobs.record(jobId),
    }),
    cancelled: { kind: 'cancelled' } as CancelOutcome | Promise<CancelOutcome>,
    /** Jobs that the store has lost. */
    lost: new Set<string>(),
    /** The store may have lost something until then. */
    othersTold: undefined as Promise<void> | undefined,
    /** How often that was waited for. */
    waits: 0,
    /** Who joined after the last look at who lives: found by whoever asks for it. */
    joined: new Set<string>(),
  };
  const hear = (word: string, jobId: string): Promise<ReportResult> => {
    state.told.push(`${jobId} ${word}`);
    return state.say(jobId);
  };
  const driverCache = createDriverCache({ clock, keepMs: 90_000 });
  const store = faulty({ driverOf: jobs.driverOf }, [], clock);
  const held = createPendingReports({
    clock,
    log: QUIET,
    meter: instance.meter,
    holdMs: HOLD_MS,
    maxHeld: 100,
    maxBytes: 1_000_000,
  });
  const answers = createRemoteJobs({
    bus: instance.bus,
    local: {
      acknowledge: ({ jobId }) => hear('acknowledged', jobId),
      finish({ jobId }, { ttsAudio, extra }) {
        state.audio.push(extra?.tts_audio_dropped === true ? 'dropped' : ttsAudio);
        return hear('finished', jobId);
      },
      fail: ({ jobId }, { code }) => hear(`failed ${code}`, jobId),
      async cancel(jobId, reason, code = 'JOB_CANCELLED') {
        state.told.push(`${jobId} ${reason} ${code}`);
        return state.cancelled;
      },
      drives: (jobId) => state.drives.has(jobId),
    },
    driverOf: async (jobId) => (state.lost.has(jobId) ? undefined : store.port.driverOf(jobId)),
    driver: () => instance.driver,
    async living(expected) {
      const seen = [...(await instance.living())];
      return new Map(seen.filter(([name]) => name === expected || !state.joined.has(name)));
    },
    othersTold() {
      state.waits += 1;
      return state.othersTold;
    },
    mayBeLost: () => state.othersTold !== undefined,
    driverCache,
    held,
    fit: (result) => fitResult(result, inlineMaxBytes),
    answerMs: ANSWER_MS,
    clock,
  });
  return {
    ...answers,
    instance,
    driver: instance.driver,
    state,
    driverCache,
    store,
    held,
  };
}

export type Desk = ReturnType<typeof withDesk>;

/** `holder` has the node, `driver` the job; `third` is somebody else. */
export async function startDesks({ inlineMaxBytes = INLINE_MAX_BYTES } = {}) {
  const post = startPost({ maxMessages: 20 });
  const jobs = createSharedJobs(post.clock);
  const join = async (instanceId: string, incarnation?: string): Promise<Desk> =>
    withDesk(
      post,
      jobs,
      await post.join(instanceId, incarnation === undefined ? {} : { incarnation }),
      inlineMaxBytes,
    );
  const [holder, driver, third] = [await join('holder'), await join('driver'), await join('third')];

  async function driveBy(desk: Desk): Promise<string> {
    const { jobId } = await jobs.add(desk.driver);
    desk.state.drives.add(jobId);
    return jobId;
  }
  const jobId = await driveBy(driver);
  const answer = { jobId, nodeId: 'node-1', attempt: 1 };
  return {
    ...post,
    jobs,
    join,
    holder,
    driver,
    third,
    driveBy,
    jobId,
    answer,
    /** The successor drives the job from now on, and its former driver does not. */
    takeOver(successor: Desk): void {
      driver.state.drives.delete(jobId);
      jobs.assign(jobId, successor.driver);
      successor.state.drives.add(jobId);
    },
    /** Lets a promise and the messages behind it come to an end; answers with what was thrown, if anything was. */
    async outcomeOf<T>(pending: Promise<T>): Promise<T | unknown> {
      const outcome = pending.catch((fault: unknown) => fault);
      await post.settle();
      return outcome;
    },
  };
}
