/** Hot path: what nodes say about their jobs. Only the attempt that holds the fence is heard (I4). */

import { meaningOf } from '../../domain/failure.ts';
import { holdsFence, isMeantFor, isOut, isSettled, type JobRecord } from '../../domain/job.ts';
import type { JobResult } from '../../domain/job-spec.ts';
import { leaseId } from '../../domain/lease.ts';
import { ANY_ATTEMPT, type ReportedAttempt, type ReportResult } from '../../domain/node-report.ts';
import type { Placement } from '../dispatch/placement.ts';
import { ACK, noteStage, RUN } from '../dispatch/stage-times.ts';
import { advance, type Engine, releaseForGood } from '../engine.ts';
import {
  hasReleased,
  type InFlightJob,
  isAbandoned,
  isEnding,
  noteReleased,
  noteTakenAgain,
} from '../in-flight-job.ts';
import type { JobService } from '../job-service.ts';
import { createLateCommits, isOver } from './late-commits.ts';
import { endOfAttempt } from './lateness.ts';
import { createOverloads } from './overloaded-nodes.ts';
import type { RetryOrFail } from './retry-or-fail.ts';
import type { SettleJob } from './settle-job.ts';
import { withdrawUnclear } from './superseded-leases.ts';
import type { Deadlines } from './timeouts.ts';

type Kind = 'ack' | 'result' | 'failure';
type Ignored = Extract<ReportResult, { kind: 'ignored' }>;

export function createNodeReports(
  engine: Engine,
  parts: { placement: Placement; deadlines: Deadlines; retryOrFail: RetryOrFail; settleJob: SettleJob },
): Pick<JobService, 'acknowledge' | 'finish' | 'fail'> {
  const { placement, deadlines, retryOrFail, settleJob } = parts;
  const lateCommits = createLateCommits(engine, retryOrFail);

  const noteOverload = createOverloads(engine);

  function ignore(kind: Kind, answer: ReportedAttempt, reason: Ignored['reason']): Ignored {
    engine.meter.count('scheduler_fenced_total', { kind });
    engine.log.debug(
      { job_id: answer.jobId, node_id: answer.nodeId, attempt_id: answer.attempt, reason },
      `late ${kind}`,
    );
    return { kind: 'ignored', reason };
  }

  /** The flight the answer may move, or why it may not. At once, if the job is known here and its attempt is the fence. */
  function find(kind: Kind, answer: ReportedAttempt): InFlightJob | Promise<InFlightJob | Ignored['reason']> {
    const flight = engine.inFlightJobs.get(answer.jobId);
    if (flight === undefined) {
      return engine.store.get(answer.jobId).then((job) => {
        if (job === undefined) return 'unknown_job';
        noteLate(kind, answer, job);
        return isSettled(job.state) ? 'settled' : 'fenced';
      });
    }
    const isFence = holdsFence(flight.job, answer.nodeId, answer.attempt) && !isSettled(flight.job.state);
    return isFence ? flight : findClosely(kind, flight, answer);
  }

  function noteLate(kind: Kind, answer: ReportedAttempt, job: JobRecord): void {
    const endedAt = endOfAttempt(job, answer);
    if (endedAt === undefined) return;
    const lateMs = Math.max(0, engine.clock.now() - endedAt);
    engine.meter.observe('scheduler_late_report_seconds', lateMs / 1_000, { kind });
  }

  async function findClosely(
    kind: Kind,
    flight: InFlightJob,
    answer: ReportedAttempt,
  ): Promise<InFlightJob | Ignored['reason']> {
    const attempt = namedAttempt(flight, answer);
    // Quicker than the send's own return: the answer proves that the node has the job.
    if (isMeantFor(flight.job, answer.nodeId, attempt)) {
      await placement.recordSent(flight, answer.nodeId, attempt);
    }
    const isOver = isSettled(flight.job.state);
    if (!isOver && holdsFence(flight.job, answer.nodeId, attempt) && !isAbandoned(flight)) return flight;
    noteLate(kind, answer, flight.job);
    return isOver ? 'settled' : 'fenced';
  }

  /** Its last word on an attempt, whatever it is worth to the job: the slot is free. */
  async function giveBackLate(answer: ReportedAttempt): Promise<void> {
    const { jobId, nodeId } = answer;
    const flight = engine.inFlightJobs.get(jobId);
    const attempt = flight === undefined ? answer.attempt : namedAttempt(flight, answer);
    if (attempt === ANY_ATTEMPT) return;
    if (flight !== undefined && holdsFence(flight.job, nodeId, attempt)) noteReleased(flight, attempt);
    await releaseForGood(engine, nodeId, leaseId(jobId, attempt));
  }

  return {
    async acknowledge(answer) {
      const heardAt = engine.clock.precise();
      const found = find('ack', answer);
      const flight = found instanceof Promise ? await found : found;
      if (typeof flight === 'string') return ignore('ack', answer, flight);
      const { fence, state } = flight.job;
      if (state === 'RUNNING' || fence === undefined) return { kind: 'accepted', job: flight.job };
      const needsCommit = lateCommits.isNeeded(flight, fence);
      // Received in time, however long the write takes: a slow store must not make the driver abandon the node.
      deadlines.acknowledged(flight);
      // An attempt that seemed over goes on, unless its outcome is being written, or a later report ends it.
      if (!isEnding(flight)) noteTakenAgain(flight, fence.attempt);
      if (needsCommit) {
        const hasSlot = await lateCommits.commit(flight, fence);
        if (isAbandoned(flight)) return ignore('ack', answer, 'fenced');
        // Another attempt may have the job by now, and then this lease is not needed.
        if (isOver(flight, fence)) {
          await lateCommits.undo(flight, fence);
          return ignore('ack', answer, isSettled(flight.job.state) ? 'settled' : 'fenced');
        }
        if (!hasSlot) {
          await lateCommits.loseSlot(flight, fence);
          return ignore('ack', answer, 'lease_lost');
        }
      }
      while (flight.job.state !== 'RUNNING' && !(await advance(engine, flight, 'acknowledged', RAN))) {
        if (flight.driving !== 'ours' || isOver(flight, fence)) return ignore('ack', answer, 'fenced');
      }
      if (!holdsFence(flight.job, fence.nodeId, fence.attempt)) return ignore('ack', answer, 'fenced');
      noteStage(engine, ACK, heardAt - flight.sentAt);
      flight.runningAt = heardAt;
      flight.givenUp = 0;
      // A successor may have been on its way elsewhere: it is this node's loss that counts again.
      engine.inFlightJobs.board(flight, fence.nodeId);
      if (flight.attempts !== fence.attempt) {
        Object.assign(flight, UNKNOWN_WAY);
        withdrawUnclear(engine, flight, fence);
      }
      flight.stopWaiting?.();
      if (flight.audioAt === 'awaited') flight.audioAt = 'missing';
      deadlines.acknowledged(flight);
      return { kind: 'accepted', job: flight.job };
    },

    async finish(answer, result) {
      const heardAt = engine.clock.precise();
      const found = find('result', answer);
      const flight = found instanceof Promise ? await found : found;
      // Its outcome is being written: no news, but its slot is free.
      if (typeof flight === 'string' || isEnding(flight)) {
        await giveBackLate(answer);
        return ignore('result', answer, typeof flight === 'string' ? flight : 'fenced');
      }
      // It was heard, and another node is being looked for: saying it again is no news.
      if (isTranslationMissing(flight, result) && isSaidAgain(flight))
        return ignore('result', answer, 'fenced');
      const ranMs = heardAt - startOfRun(flight);
      if (isTranslationMissing(flight, result) && isOut(flight.job)) {
        noteStage(engine, RUN, ranMs);
        flight.fallback = result;
        await retryOrFail.giveUp(flight, { ...UNTRANSLATED, isCounted: true, side: 'over' });
        engine.nodes.outcome(answer.nodeId, 'unproven', flight.need);
        return { kind: 'accepted', job: flight.job };
      }
      const finishing = settleJob.finish(flight, result);
      const isFinished = finishing instanceof Promise ? await finishing : finishing;
      if (!isFinished) return ignore('result', answer, 'fenced');
      noteStage(engine, RUN, ranMs);
      engine.slow?.took('result', engine.clock.precise() - heardAt);
      engine.nodes.outcome(answer.nodeId, 'succeeded', flight.need);
      return { kind: 'accepted', job: flight.job };
    },

    async fail(answer, failure) {
      const heardAt = engine.clock.precise();
      const found = find('failure', answer);
      const flight = found instanceof Promise ? await found : found;
      // Nor is it news of an attempt that was given up.
      if (typeof flight === 'string' || isEnding(flight) || !isOut(flight.job)) {
        await giveBackLate(answer);
        return ignore('failure', answer, typeof flight === 'string' ? flight : 'fenced');
      }
      noteStage(engine, RUN, heardAt - startOfRun(flight));
      const meaning = meaningOf(failure);
      // Served by another instance, the audio may have gone with it: then no node is to blame, and none can do better.
      const isAudioGone = failure.code === 'AUDIO_LOST' && typeof flight.audioAt === 'object';
      if (isAudioGone) flight.audioAt = 'missing';
      else if (meaning.blamesNode) engine.nodes.outcome(answer.nodeId, 'failed', flight.need);
      if (failure.code === 'MODEL_NOT_AVAILABLE')
        engine.nodes.modelNotAvailable(answer.nodeId, failure.details ?? {});
      const { code, message } = failure;
      if (meaning.isRetryable) {
        // Before its slot is given back, or the next in line would be sent after it.
        if (code === 'NODE_OVERLOADED') noteOverload(answer.nodeId);
        await retryOrFail.giveUp(flight, { code, message, isCounted: meaning.isCounted, side: 'over' });
      } else {
        await retryOrFail.conclude(flight, { code, message }, 'over', flight.job.fence);
      }
      // Not before: one that is full should be known to be before it is found again.
      if (!meaning.blamesNode && code !== 'MODEL_NOT_AVAILABLE')
        engine.nodes.outcome(answer.nodeId, 'unproven', flight.need);
      return { kind: 'accepted', job: flight.job };
    },
  };
}

const RAN = { intent: null } as const;
/** How an earlier attempt went is not kept. */
const UNKNOWN_WAY = { generation: undefined, isOutOfBand: true } as const;

const UNTRANSLATED = {
  code: 'PROCESSING_ERROR',
  message: 'the node recognised speech but gave no translation',
};

const startOfRun = ({ runningAt, sentAt }: InFlightJob): number => (runningAt > 0 ? runningAt : sentAt);

/** The node of the attempt that counts has had its last word on it. */
const isSaidAgain = (flight: InFlightJob): boolean =>
  flight.fallback !== undefined && hasReleased(flight, flight.job.fence?.attempt ?? 0);

function namedAttempt(flight: InFlightJob, answer: ReportedAttempt): number {
  if (answer.attempt !== ANY_ATTEMPT) return answer.attempt;
  const { fence, intent } = flight.job;
  if (fence?.nodeId === answer.nodeId) return fence.attempt;
  return intent?.nodeId === answer.nodeId ? intent.attempt : ANY_ATTEMPT;
}

/** What a legacy node answers for an utterance that came after a later one of its session. */
const isTranslationMissing = (flight: InFlightJob, result: JobResult): boolean =>
  flight.job.spec.pipeline.use_nmt && result.textAsr !== '' && result.textTranslated === '';
