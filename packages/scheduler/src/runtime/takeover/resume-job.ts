/** Failure path: resumes a job that another instance drove, from its record alone. */
import type { NodeId } from '../../domain/ids.ts';
import { hedgeOf, isOut, isSettled, type JobRecord } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import type { Need } from '../../domain/need.ts';
import { watchLeaseEnd } from '../attempts/lease-expiry.ts';
import type { RetryOrFail } from '../attempts/retry-or-fail.ts';
import type { SettleJob } from '../attempts/settle-job.ts';
import type { Timeouts } from '../attempts/timeouts.ts';
import type { UnconfirmedSends } from '../attempts/unconfirmed-sends.ts';
import { abandonLease, acknowledgesJobs, advance, type Engine, releaseForGood } from '../engine.ts';
import { createInFlightJob, type Hedge, type InFlightJob } from '../in-flight-job.ts';
import type { SharedDriving } from '../job-service.ts';
import { compileNeed } from '../select/compile-need.ts';
import { attemptHistoryOf } from './attempt-history.ts';

export type ResumeJobs = Pick<SharedDriving, 'resume' | 'audioReturned'>;

export function createResumeJobs(
  engine: Engine,
  parts: {
    timeouts: Timeouts;
    retryOrFail: RetryOrFail;
    settleJob: SettleJob;
    unconfirmedSends: UnconfirmedSends;
  },
): ResumeJobs {
  const { timeouts, retryOrFail, settleJob, unconfirmedSends } = parts;
  const { wheel, clock, settings } = engine;

  function rebuild(job: JobRecord): InFlightJob {
    const need = job.need ?? emptyNeed(job);
    const flight = createInFlightJob(job, compileNeed(engine.fleet, need));
    const now = clock.now();
    const ranFrom = job.timeline.findLast(({ state }) => state === 'RUNNING')?.at ?? now;
    // The time comes from another machine's clock: no start may be later than now.
    const sentAt = job.state === 'RUNNING' ? Math.min(now, ranFrom) : now;
    const lacksAudio = job.spec.audio.kind === 'held' && engine.audio.get(job.jobId) === undefined;
    return Object.assign(flight, attemptHistoryOf(job), {
      sentAt,
      hedge: resumedHedge(job, now),
      isResumed: true,
      repeats: undefined,
      doesAcknowledge: acknowledgesJobs(engine, job.fence?.nodeId ?? ''),
      audioAt: lacksAudio ? ('missing' as const) : undefined,
    });
  }

  /** The job has its outcome: only its lease and its audio are left. */
  async function release(flight: InFlightJob): Promise<void> {
    const { jobId, fence, state } = flight.job;
    engine.audio.drop(jobId);
    if (fence !== undefined && state === 'FINISHED') {
      await releaseForGood(engine, fence.nodeId, leaseId(jobId, fence.attempt));
    } else if (fence !== undefined) {
      // The node of a failed attempt may still work on it.
      await leaveLease(fence.nodeId, leaseId(jobId, fence.attempt));
      await advance(engine, flight, 'released', { reason: 'lease_left_to_expire' });
      return;
    }
    await advance(engine, flight, 'released');
  }

  async function leaveLease(nodeId: NodeId, lease: string): Promise<void> {
    await abandonLease(engine, nodeId, lease);
    watchLeaseEnd(engine, nodeId);
  }

  function resume(flight: InFlightJob): void {
    const { fence, intent } = flight.job;
    if (isOut(flight.job) && fence !== undefined) {
      engine.inFlightJobs.setNode(flight, fence.nodeId);
      watchAttempt(flight, fence.nodeId);
    } else if (flight.job.state === 'RESERVED' && intent !== undefined) {
      // The job may have been sent: then the node reports soon.
      void unconfirmedSends.awaitReport(flight);
    } else void retryOrFail.tryElsewhere(flight, 'open');
  }

  const isOnline = (nodeId: NodeId): boolean => {
    const view = engine.fleet.view(nodeId);
    return view !== undefined && view.health !== 'offline';
  };

  function watchAttempt(flight: InFlightJob, nodeId: NodeId): void {
    if (!isOnline(nodeId)) {
      // Its connection may have ended with the dead driver, and the node may be reconnecting.
      flight.attemptTimer = wheel.setAt(clock.now() + settings.ackTimeoutMs, nodeStillMissing, flight);
      return;
    }
    flight.doesAcknowledge = acknowledgesJobs(engine, nodeId);
    if (flight.job.state === 'RUNNING') {
      timeouts.acknowledged(flight);
      return;
    }
    flight.sentAt = clock.now();
    timeouts.attemptSent(flight);
  }

  function nodeStillMissing(flight: InFlightJob): void {
    const { fence } = flight.job;
    if (fence === undefined || !isOut(flight.job)) return;
    const { nodeId } = fence;
    if (isOnline(nodeId)) {
      watchAttempt(flight, nodeId);
      return;
    }
    const message = 'the node did not reconnect after the driver of its job died';
    void retryOrFail.abandonAttempt(flight, {
      code: 'WS_DISCONNECTED',
      message,
      isCounted: true,
      side: 'open',
      isLoss: true,
    });
  }

  return {
    resume(job) {
      if (engine.inFlightJobs.get(job.jobId) !== undefined || job.state === 'RELEASED') return;
      const flight = rebuild(job);
      if (isSettled(job.state)) {
        void release(flight);
        return;
      }
      engine.inFlightJobs.add(flight);
      if (job.need === undefined) {
        void settleJob.fail(flight, NEED_UNKNOWN, 'open');
        return;
      }
      // The deadline comes from another machine's clock: it is capped by this one.
      timeouts.startJob(flight, Math.min(job.deadlineAt, clock.now() + settings.jobDeadlineMs));
      resume(flight);
    },

    audioReturned(jobId, at) {
      const flight = engine.inFlightJobs.get(jobId);
      if (flight === undefined || flight.audioAt === undefined) return;
      const isHere = engine.audio.get(jobId) !== undefined;
      if (!isHere && at === undefined) return;
      const isAwaited = flight.audioAt === 'awaited';
      flight.audioAt = isHere ? undefined : at;
      if (isAwaited) void retryOrFail.tryElsewhere(flight, 'open');
    },
  };
}

/** Its result counts as before. Whether its node has acknowledged it is not in the record. */
function resumedHedge(job: JobRecord, now: number): Hedge | undefined {
  const hedge = hedgeOf(job);
  if (hedge === undefined) return undefined;
  const begun = job.timeline.findLast(({ attempt }) => attempt === hedge.attempt);
  return { ...hedge, sentAt: Math.min(now, begun?.at ?? now), isAcknowledged: false };
}

const NEED_UNKNOWN = {
  code: 'INTERNAL_ERROR',
  message: 'the job record has no need, so no other node can be chosen',
};

/** For records without a need: no node is ever searched with this. */
const emptyNeed = ({ tenantId, sessionId }: JobRecord): Need => ({
  tenantId,
  sessionId,
  directions: [],
  isSourceAuto: false,
  usesAsr: false,
  usesNmt: false,
  usesTts: false,
  types: [],
  services: [],
  isAudioByReference: false,
  isPairUnknown: false,
  needsPublicNode: false,
  isStrict: true,
});
