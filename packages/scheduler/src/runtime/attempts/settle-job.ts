/** Hot path: writes the outcome of a job, exactly one, and releases its lease and audio. */

import { type Attempt, isSettled, type JobEvent, nextState } from '../../domain/job.ts';
import { type JobResult, withDegradation } from '../../domain/job-spec.ts';
import { leaseId } from '../../domain/lease.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import { noteStage, TOTAL } from '../dispatch/stage-times.ts';
import { advance, type Engine, releaseForGood, type Step } from '../engine.ts';
import {
  attemptFields,
  type Hedge,
  hasReleased,
  type InFlightJob,
  isEnding,
  isFirstSend,
  mayEnd,
  noteReleased,
  type Settlement,
} from '../in-flight-job.ts';
import { measureJob } from '../usage/measure-job.ts';
import { learnFinished, learnGivenUp } from './learn-speed.ts';
import { watchLeaseEnd } from './lease-expiry.ts';
import { abandonLeaseOf, cancelUnconfirmed } from './superseded-leases.ts';

/** `over`: the node has ended the job, or never had it. `open`: it may still work on it. */
export type NodeSide = 'over' | 'open';

export interface SettleJob {
  /** With the result of the node that holds the fence; the node has ended the job. */
  finish(flight: InFlightJob, result: JobResult): MaybePromise<boolean>;
  /** With the result of the hedge, which holds the fence from now on; its node has ended the job. */
  finishHedge(flight: InFlightJob, result: JobResult, hedge: Hedge): MaybePromise<boolean>;
  /** With an earlier result, while a node may still work on the job. With an attempt: only while it holds the fence. */
  finishOpen(flight: InFlightJob, result: JobResult, of?: Attempt): Promise<boolean>;
  /** With an attempt: only while it holds the fence. */
  fail(
    flight: InFlightJob,
    failure: { code: string; message: string },
    side: NodeSide,
    of?: Attempt,
  ): Promise<boolean>;
}

export function createSettleJob(engine: Engine): SettleJob {
  function endFlight(flight: InFlightJob): void {
    flight.attemptTimer?.cancel();
    flight.deadlineTimer?.cancel();
    flight.hedgeTimer?.cancel();
    engine.inFlightJobs.remove(flight);
    flight.stopWaiting?.();
    const { jobId, fence } = flight.job;
    engine.audio.drop(jobId);
    // A hedge that was not faster, too.
    if (fence === undefined || !isFirstSend(flight)) cancelUnconfirmed(engine, flight, fence);
  }

  function close(flight: InFlightJob, side: NodeSide): MaybePromise<unknown> {
    endFlight(flight);
    const { jobId, fence } = flight.job;
    if (fence === undefined) return advance(engine, flight, 'released');
    // A node that has ended its attempt needs no cancel.
    if (side === 'open' && !hasReleased(flight, fence.attempt)) return closeOpen(flight, fence);
    noteReleased(flight, fence.attempt);
    const releasing = releaseForGood(engine, fence.nodeId, leaseId(jobId, fence.attempt));
    return releasing instanceof Promise
      ? releasing.then(() => advance(engine, flight, 'released'))
      : advance(engine, flight, 'released');
  }

  async function closeOpen(flight: InFlightJob, fence: Attempt): Promise<void> {
    const { jobId, failure } = flight.job;
    if (failure !== undefined) learnGivenUp(engine, flight);
    const reason = failure?.code ?? 'superseded';
    if (reason !== 'JOB_TIMEOUT' || engine.settings.cancelsTimedOut)
      engine.link.cancel(fence.nodeId, jobId, reason);
    await abandonLeaseOf(engine, flight, fence);
    watchLeaseEnd(engine, fence.nodeId);
    await advance(engine, flight, 'released', { reason: 'lease_left_to_expire' });
  }

  /** Another writer settled the job, or its record is gone: its lease and audio are released all the same. */
  async function closeIfEnded(flight: InFlightJob): Promise<void> {
    if (engine.inFlightJobs.get(flight.job.jobId) !== flight) return;
    if (isSettled(flight.job.state) || flight.driving === 'record_gone') await close(flight, 'open');
  }

  const isOpen = (flight: InFlightJob, of: Attempt | undefined): boolean =>
    flight.driving === 'ours' && !isSettled(flight.job.state) && (of === undefined || mayEnd(flight.job, of));

  /**
   * Writes the outcome, and again if another move was first, until it is written or this instance may not write it any more. One at
   * a time: with two equal results, neither could tell whose write the store kept. The write of a superseded attempt does not block
   * this one: the store refuses one of the two.
   */
  function settle(
    flight: InFlightJob,
    event: Ending,
    step: () => Step,
    of: Attempt | undefined,
  ): MaybePromise<boolean> {
    if (isEnding(flight)) return false;
    flight.settling = AT_ONCE;
    const write = (): MaybePromise<boolean> | undefined =>
      isOpen(flight, of) && isAllowed(flight, event) ? advance(engine, flight, event, step()) : undefined;
    const first = write();
    if (first !== true) {
      const own: { of: Attempt | undefined; ended: Promise<unknown> } = { of, ended: AT_ONCE.ended };
      flight.settling = own;
      const slowly = settleSlowly(flight, write, first, own);
      own.ended = slowly.catch(() => {});
      return slowly;
    }
    flight.settling = undefined;
    return true;
  }

  async function settleSlowly(
    flight: InFlightJob,
    write: () => MaybePromise<boolean> | undefined,
    first: MaybePromise<boolean> | undefined,
    own: Settlement,
  ): Promise<boolean> {
    try {
      for (let writing = first; writing !== undefined; writing = write()) if (await writing) return true;
      // Otherwise the writer of the current attempt's outcome releases what the job held.
      if (flight.settling === own) await closeIfEnded(flight);
      return false;
    } finally {
      if (flight.settling === own) flight.settling = undefined;
    }
  }

  function noteFinished(flight: InFlightJob): void {
    engine.meter.count('scheduler_jobs_settled_total', FINISHED);
    const now = engine.clock.precise();
    noteStage(engine, TOTAL, now - flight.job.createdAt);
    engine.slotTimes.note(now - flight.sentAt);
    learnFinished(engine, flight);
  }

  /**
   * The node has ended the job: the result and RELEASED are one move, and the lease is released in parallel, because the node does
   * not work on the job any more even if the result is refused.
   */
  function finishOver(
    flight: InFlightJob,
    result: JobResult,
    { nodeId, attempt }: Attempt,
  ): MaybePromise<boolean> {
    const { jobId } = flight.job;
    const releaseLease = (): MaybePromise<void> => releaseForGood(engine, nodeId, leaseId(jobId, attempt));
    const usage = measureJob(flight.job, result, engine.clock.now());
    const step = () => ({
      result,
      usage,
      intent: null,
      via: flight.job.state === 'RUNNING' ? RAN : RAN_UNACKNOWLEDGED,
    });
    const settling = settle(flight, 'released', step, { nodeId, attempt });
    if (settling === false) return false;
    const isWaiting = settling instanceof Promise;
    noteReleased(flight, attempt);
    const releasing = isWaiting ? releaseLease() : undefined;
    const goOn = (isOurs: boolean): MaybePromise<boolean> => {
      if (!isOurs) return false;
      noteFinished(flight);
      endFlight(flight);
      const released = releasing ?? releaseLease();
      return released instanceof Promise ? released.then(() => true) : true;
    };
    return isWaiting ? settling.then(goOn) : goOn(settling);
  }

  async function finishHedge(flight: InFlightJob, given: JobResult, hedge: Hedge): Promise<boolean> {
    const { jobId, fence: overdue, spec } = flight.job;
    const result = withDegradation(given, spec);
    const usage = measureJob(flight.job, result, engine.clock.now());
    const step = () => ({ result, usage, fence: fenceOf(hedge), intent: null, via: RAN });
    if (!(await settle(flight, 'released', step, hedge))) return false;
    noteReleased(flight, hedge.attempt);
    flight.attempts = hedge.attempt;
    flight.sentAt = hedge.sentAt;
    noteFinished(flight);
    endFlight(flight);
    // Not if the hedge held the fence already, because the first attempt had failed.
    if (overdue !== undefined && overdue.attempt !== hedge.attempt) {
      engine.link.cancel(overdue.nodeId, jobId, 'superseded');
      engine.nodes.outcome(overdue.nodeId, 'unproven', flight.compiled.need);
      void abandonLeaseOf(engine, flight, overdue).then(() => watchLeaseEnd(engine, overdue.nodeId));
    }
    await releaseForGood(engine, hedge.nodeId, leaseId(jobId, hedge.attempt));
    return true;
  }

  async function finishOpen(flight: InFlightJob, result: JobResult, of?: Attempt): Promise<boolean> {
    const usage = measureJob(flight.job, result, engine.clock.now());
    const step = () => ({
      result,
      usage,
      intent: null,
      via: flight.job.state === 'RUNNING' ? NONE : UNACKNOWLEDGED,
    });
    if (!(await settle(flight, 'finished', step, of))) return false;
    noteFinished(flight);
    await close(flight, 'open');
    return true;
  }

  return {
    finish(flight, given) {
      const { fence, spec } = flight.job;
      const result = withDegradation(given, spec);
      return fence === undefined ? finishOpen(flight, result) : finishOver(flight, result, fence);
    },
    finishHedge,
    finishOpen,

    async fail(flight, failure, side, of) {
      const step = { failure, reason: failure.code, intent: null };
      if (!(await settle(flight, 'failed', () => step, of))) return false;
      engine.meter.count('scheduler_jobs_settled_total', { outcome: 'failed', code: failure.code });
      noteStage(engine, TOTAL, engine.clock.precise() - flight.job.createdAt);
      engine.log.info(attemptFields(flight.job, failure.code), 'a job failed');
      await close(flight, side);
      return true;
    },
  };
}

/** FINISHED follows RUNNING; a job that was never sent cannot reach it. */
const isAllowed = (flight: InFlightJob, event: Ending): boolean =>
  event === 'failed' ||
  flight.job.state === 'RUNNING' ||
  nextState(flight.job.state, 'acknowledged') === 'RUNNING';

const fenceOf = ({ nodeId, attempt }: Attempt): Attempt => ({ nodeId, attempt });

const AT_ONCE = { of: undefined, ended: Promise.resolve() };
type Ending = 'finished' | 'released' | 'failed';
const NONE: readonly JobEvent[] = [];
const UNACKNOWLEDGED: readonly JobEvent[] = ['acknowledged'];
const RAN: readonly JobEvent[] = ['finished'];
const RAN_UNACKNOWLEDGED: readonly JobEvent[] = ['acknowledged', 'finished'];
const FINISHED = { outcome: 'finished', code: '' };
