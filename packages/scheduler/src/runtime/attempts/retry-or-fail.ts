/** Failure path: abandons an attempt; then the job is tried on another node or fails. */
import type { NodeId } from '../../domain/ids.ts';
import { type Attempt, isOut, isSettled } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import { type Rejection, stageOf } from '../../domain/need.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import { candidates, exclusions } from '../dispatch/candidates.ts';
import type { Placement } from '../dispatch/placement.ts';
import { advance, type Engine, releaseForGood } from '../engine.ts';
import {
  attemptFields,
  hasReleased,
  type InFlightJob,
  isEnding,
  lacksAudio,
  noteReleased,
} from '../in-flight-job.ts';
import { backToWaiting, waitForSlot } from '../queue/waiting.ts';
import { explain } from '../select/explain.ts';
import { describeMarkedOut, markedOut } from '../select/marked-out.ts';
import type { Hedging } from './hedging.ts';
import { learnGivenUp } from './learn-speed.ts';
import { watchLeaseEnd } from './lease-expiry.ts';
import type { NodeSide, SettleJob } from './settle-job.ts';
import { abandonLeaseOf } from './superseded-leases.ts';

export interface Reason {
  readonly code: string;
  readonly message: string;
  /** Counts against max_retry and the retry budget. */
  readonly isCounted: boolean;
  readonly side: NodeSide;
  /** What the timeline says instead of the code. */
  readonly timelineReason?: string;
  /** The node was lost with the job. */
  readonly isLoss?: boolean;
}

export interface RetryOrFail {
  /**
   * Only for the attempt that holds the fence; the caller has checked that. Resolves when the job was tried elsewhere or waits for
   * a slot, not when the wait ends, so that the caller is not delayed.
   */
  abandonAttempt(flight: InFlightJob, reason: Reason): Promise<boolean>;
  /** For a job without a node, or whose last attempt was abandoned: another node, now or as soon as one is free. */
  tryElsewhere(flight: InFlightJob, side: NodeSide): Promise<void>;
  /** Settles a job that cannot be retried with its best result or its last failure. */
  conclude(
    flight: InFlightJob,
    failure: { code: string; message: string },
    side: NodeSide,
    of?: Attempt,
  ): Promise<void>;
  /** Settles a job at its deadline. */
  endAtDeadline(flight: InFlightJob, failure: { code: string; message: string }): Promise<void>;
}

/** Limits uncounted retries too: a fleet that refuses everything must not be tried for ever. */
const MAX_ATTEMPTS = 32;
/** A job that lost this many nodes probably crashes them. */
const POISON_LOSSES = 2;

export type RetryDecision = 'retry' | 'exhausted' | 'poison' | 'over_budget';

/** Pure except for the budget, which is used last so that only real retries are charged. */
export function judgeRetry(
  flight: Pick<InFlightJob, 'attempts' | 'retries' | 'nodesLost'>,
  isCounted: boolean,
  maxRetry: number,
  takeFromBudget: () => boolean,
): RetryDecision {
  if (flight.nodesLost >= POISON_LOSSES) return 'poison';
  if (flight.attempts >= MAX_ATTEMPTS) return 'exhausted';
  if (!isCounted) return 'retry';
  if (flight.retries >= maxRetry) return 'exhausted';
  return takeFromBudget() ? 'retry' : 'over_budget';
}

export function createRetryOrFail(
  engine: Engine,
  placement: Placement,
  settleJob: SettleJob,
  hedging: Pick<Hedging, 'takeOver'>,
): RetryOrFail {
  async function conclude(
    flight: InFlightJob,
    failure: { code: string; message: string },
    side: NodeSide,
    of?: Attempt,
  ): Promise<void> {
    if (of !== undefined && flight.job.fence?.attempt !== of.attempt) return;
    const { fallback } = flight;
    if (fallback === undefined) await settleJob.fail(flight, failure, side, of);
    else if (side === 'over') await settleJob.finish(flight, fallback);
    else await settleJob.finishOpen(flight, fallback, of);
  }

  /** How long the job may wait: until its deadline if the last attempt may still report, otherwise pending_timeout. */
  function waitLimitMs(flight: InFlightJob, side: NodeSide): number {
    const left = flight.job.deadlineAt - engine.clock.now();
    return side === 'open' ? left : Math.min(left, engine.settings.pendingTimeoutMs);
  }

  async function tryElsewhere(flight: InFlightJob, side: NodeSide): Promise<void> {
    if (lacksAudio(flight)) return awaitAudio(flight, side);
    const placed = await placement.place(flight, candidates(engine, flight, flight.job.spec.utteranceIndex));
    if (placed !== 'no_node') return;
    if (!(await backToWaiting(engine, flight, true))) return;
    // A result without translation is delivered at once if no node could improve it.
    if (side === 'over' && flight.fallback !== undefined && !isRetryPossible(flight))
      await conclude(flight, flight.lastFailure ?? NO_NODE_LEFT, side, flight.job.fence);
    else void waitElsewhere(flight, side);
  }

  /** Another registered node is able and allowed to take the job, now or later. */
  function isRetryPossible({ compiled, sentTo, job }: InFlightJob): boolean {
    const { isStrict, preferredNodeId } = compiled.need;
    const excluded = exclusions(
      engine,
      { compiled, sentTo, skippedUntil: NONE_SKIPPED },
      job.spec.utteranceIndex,
    );
    if (isStrict && preferredNodeId !== undefined) return !excluded.has(preferredNodeId);
    const { eligible, reasons } = explain(engine.fleet, compiled, excluded);
    return eligible > 0 || reasons.some(({ reason }) => reason !== 'excluded' && isTemporary(reason));
  }

  /** Without its audio the job cannot be sent: it waits for the audio until the deadline. */
  async function awaitAudio(flight: InFlightJob, side: NodeSide): Promise<void> {
    if (!(await backToWaiting(engine, flight, true))) return;
    if (lacksAudio(flight)) flight.audioAt = 'awaited';
    // The audio returned during the write.
    else await tryElsewhere(flight, side);
  }

  /** If only marks excluded a free node, the failure says so and a metric counts it. */
  function withMarks<F extends { readonly message: string }>(flight: InFlightJob, failure: F): F {
    const excluded = exclusions(engine, flight, flight.job.spec.utteranceIndex);
    const marked = markedOut(engine.fleet, flight.compiled, excluded);
    if (marked === undefined) return failure;
    engine.meter.count('scheduler_model_na_last_candidate_total');
    return { ...failure, message: `${failure.message}; ${describeMarkedOut(marked)}` };
  }

  async function waitElsewhere(flight: InFlightJob, side: NodeSide): Promise<void> {
    const limitMs = waitLimitMs(flight, side);
    const { fence } = flight.job;
    const waited = await waitForSlot(engine, placement, flight, { isRetry: true, limitMs });
    // The deadline may have settled the job already.
    if (waited === 'limit' && !isEnding(flight) && !isSettled(flight.job.state))
      await conclude(flight, withMarks(flight, flight.lastFailure ?? NO_NODE_LEFT), side, fence);
  }

  /** The node has ended its attempt. */
  function free(flight: InFlightJob, { nodeId, attempt }: Attempt): MaybePromise<void> {
    noteReleased(flight, attempt);
    return releaseForGood(engine, nodeId, leaseId(flight.job.jobId, attempt));
  }

  return {
    conclude,
    tryElsewhere,
    async endAtDeadline(flight, failure) {
      // The write under way may be refused, and no other timer is set.
      while (isEnding(flight)) {
        await flight.settling?.ended;
        if (isSettled(flight.job.state)) return;
      }
      const lacksNode = !isOut(flight.job) && !lacksAudio(flight);
      await conclude(flight, lacksNode ? withMarks(flight, failure) : failure, 'open');
    },
    async abandonAttempt(flight, { code, message, isCounted, side, isLoss, timelineReason = code }) {
      const { fence } = flight.job;
      if (isEnding(flight)) {
        // The outcome was received and is being written. Its node has ended the job, so it may reconnect without it.
        await flight.settling?.ended;
        if (flight.job.fence?.attempt !== fence?.attempt) return false;
      }
      if (fence === undefined || isSettled(flight.job.state)) return false;
      if (flight.abandonedAttempt === fence.attempt) {
        // RETRYING is being written, and meanwhile the node has ended its attempt.
        if (side === 'over') await free(flight, fence);
        return false;
      }
      if (side === 'open') {
        learnGivenUp(engine, flight);
        void abandonLeaseOf(engine, flight, fence);
      }
      flight.abandonedAttempt = fence.attempt;
      if (isLoss === true) {
        flight.nodesLost += 1;
        engine.nodes.outcome(fence.nodeId, 'unproven', flight.compiled.need);
      }
      flight.attemptTimer?.cancel();
      flight.lastFailure = { code, message };
      if (flight.hedge !== undefined && (await hedging.takeOver(flight, timelineReason))) {
        if (side === 'over') await free(flight, fence);
        else {
          engine.link.cancel(fence.nodeId, flight.job.jobId, 'superseded');
          watchLeaseEnd(engine, fence.nodeId);
        }
        return true;
      }
      if (!isStillCurrent(flight, fence)) return false;
      const decision = flight.job.spec.isInterim
        ? 'exhausted'
        : judgeRetry(flight, isCounted, engine.settings.maxRetry, engine.budget.take);
      if (decision !== 'retry') {
        if (decision === 'over_budget') engine.meter.count('scheduler_retry_budget_exhausted_total');
        await conclude(flight, decision === 'poison' ? POISON : flight.lastFailure, side, fence);
        return true;
      }
      while (!(await advance(engine, flight, 'gave_up', { reason: timelineReason, intent: null }))) {
        const isStillOurs =
          flight.job.fence?.attempt === fence.attempt && isOut(flight.job) && flight.driving === 'ours';
        if (!isStillOurs) return false;
      }
      if (isCounted) flight.retries += 1;
      engine.meter.count('scheduler_retries_total', { reason: code });
      engine.log.info(attemptFields(flight.job, code, fence), 'a job is to be retried');
      if (side === 'over') await free(flight, fence);
      else watchLeaseEnd(engine, fence.nodeId);
      await tryElsewhere(flight, hasReleased(flight, fence.attempt) ? 'over' : side);
      return true;
    },
  };
}

/** A report may have ended the job, or another attempt may have the fence, since this one was abandoned. */
const isStillCurrent = ({ job, driving }: InFlightJob, { attempt }: Attempt): boolean =>
  driving === 'ours' && job.fence?.attempt === attempt && !isSettled(job.state);

const NONE_SKIPPED: ReadonlyMap<NodeId, number> = new Map();
const isTemporary = (reason: Rejection): boolean => ['ready', 'room'].includes(stageOf(reason));

const NO_NODE_LEFT = { code: 'NO_AVAILABLE_NODE', message: 'no other node could take the job' };

const POISON = {
  code: 'NODE_UNAVAILABLE',
  message: `${POISON_LOSSES} nodes were lost while they had this job; it is not retried`,
};
