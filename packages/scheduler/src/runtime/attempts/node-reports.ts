/** Hot path: reports of nodes about their jobs. Only the attempt that holds the fence counts (I4). */

import { meaningOf } from '../../domain/failure.ts';
import type { NodeId } from '../../domain/ids.ts';
import {
  holdsFence,
  isMeantFor,
  isOut,
  isSettled,
  type JobRecord,
  type TimelineEntry,
} from '../../domain/job.ts';
import type { JobResult } from '../../domain/job-spec.ts';
import { leaseId } from '../../domain/lease.ts';
import { ANY_ATTEMPT, type ReportedAttempt, type ReportResult } from '../../domain/node-report.ts';
import { type Placement, SKIP_MS } from '../dispatch/placement.ts';
import { ACK, noteStage, RUN } from '../dispatch/stage-times.ts';
import { advance, type Engine, releaseForGood, writeDispatched } from '../engine.ts';
import {
  attemptFields,
  FORGOTTEN_PATH,
  type Hedge,
  hasReleased,
  type InFlightJob,
  isDropped,
  isEnding,
  isPathUnknown,
  noteDelivered,
  noteNotHandedOver,
  noteReleased,
  noteReopened,
  skipNode,
} from '../in-flight-job.ts';
import type { JobService } from '../job-service.ts';
import { endOfAttempt, UNDELIVERABLE } from '../takeover/attempt-history.ts';
import type { Hedging } from './hedging.ts';
import { createLateCommits, isOver } from './late-commits.ts';
import { createOverloadedNodes } from './overloaded-nodes.ts';
import type { RetryOrFail } from './retry-or-fail.ts';
import type { SettleJob } from './settle-job.ts';
import { cancelUnconfirmed } from './superseded-leases.ts';
import type { Timeouts } from './timeouts.ts';

type Kind = 'ack' | 'text' | 'result' | 'failure';
type Ignored = Extract<ReportResult, { kind: 'ignored' }>;
/** Why a report may not move the job that it names. */
interface Unfit {
  readonly unfit: Ignored['reason'];
  /** Undefined: the job is not known. */
  readonly job: JobRecord | undefined;
  /** The report is about the hedge of this job. */
  readonly hedged?: { readonly flight: InFlightJob; readonly hedge: Hedge } | undefined;
}

export function createNodeReports(
  engine: Engine,
  parts: {
    placement: Placement;
    timeouts: Timeouts;
    retryOrFail: RetryOrFail;
    settleJob: SettleJob;
    hedging: Hedging;
  },
): Pick<JobService, 'dispatched' | 'undeliverable' | 'acknowledge' | 'tell' | 'finish' | 'fail'> {
  const { placement, timeouts, retryOrFail, settleJob, hedging } = parts;
  const lateCommits = createLateCommits(engine, retryOrFail);

  const noteOverload = createOverloadedNodes(engine);

  function ignore(
    kind: Kind,
    { jobId, nodeId, attempt }: ReportedAttempt,
    { unfit: reason, job }: Unfit,
  ): Ignored {
    engine.meter.count('scheduler_fenced_total', { kind });
    const trace_id = job?.spec.traceId;
    engine.log.info({ job_id: jobId, node_id: nodeId, attempt_id: attempt, trace_id, reason }, LATE[kind]);
    return { kind: 'ignored', reason };
  }

  /** The in-flight job that the report may move, or why it may not. Synchronous if the attempt holds the fence. */
  function find(kind: Kind, report: ReportedAttempt): InFlightJob | Promise<InFlightJob | Unfit> {
    const flight = engine.inFlightJobs.get(report.jobId);
    if (flight === undefined) {
      return engine.store.get(report.jobId).then((job) => {
        if (job === undefined) return { unfit: 'unknown_job', job };
        noteLate(kind, report, job);
        return unfit(job);
      });
    }
    const isFence = holdsFence(flight.job, report.nodeId, report.attempt) && !isSettled(flight.job.state);
    return isFence ? flight : findClosely(kind, flight, report);
  }

  function noteLate(kind: Kind, report: ReportedAttempt, job: JobRecord): void {
    const endedAt = endOfAttempt(job, report);
    if (endedAt === undefined) return;
    const lateMs = Math.max(0, engine.clock.now() - endedAt);
    engine.meter.observe('scheduler_late_report_seconds', lateMs / 1_000, { kind });
  }

  async function findClosely(
    kind: Kind,
    flight: InFlightJob,
    report: ReportedAttempt,
  ): Promise<InFlightJob | Unfit> {
    const attempt = namedAttempt(flight, report);
    const hedge = hedging.find(flight, report.nodeId, attempt);
    if (hedge !== undefined) return { unfit: 'fenced', job: flight.job, hedged: { flight, hedge } };
    // The report arrived before the reply of the delivery: it proves that the node has the job.
    if (isMeantFor(flight.job, report.nodeId, attempt)) {
      await placement.recordSent(flight, report.nodeId, attempt);
    }
    const isOver = isSettled(flight.job.state);
    if (!isOver && holdsFence(flight.job, report.nodeId, attempt) && !isDropped(flight)) return flight;
    noteLate(kind, report, flight.job);
    return unfit(flight.job, isOver ? 'settled' : 'fenced');
  }

  /** The node has ended its attempt, so its slot is free, whether or not the report counts for the job. */
  async function releaseLate(report: ReportedAttempt): Promise<void> {
    const { jobId, nodeId } = report;
    const flight = engine.inFlightJobs.get(jobId);
    const attempt = flight === undefined ? report.attempt : namedAttempt(flight, report);
    if (attempt === ANY_ATTEMPT) return;
    if (flight !== undefined && holdsFence(flight.job, nodeId, attempt)) noteReleased(flight, attempt);
    await releaseForGood(engine, nodeId, leaseId(jobId, attempt));
  }

  function markNotHandedOver(flight: InFlightJob, nodeId: NodeId): void {
    noteNotHandedOver(flight, nodeId);
    skipNode(flight, nodeId, engine.clock.now() + SKIP_MS);
  }

  const isOfHedge = ({ hedged }: Unfit): ReportResult | undefined =>
    hedged && { kind: 'accepted', job: hedged.flight.job };

  async function endHedge({ flight, hedge }: NonNullable<Unfit['hedged']>): Promise<ReportResult> {
    await hedging.drop(flight, hedge, 'over');
    return { kind: 'accepted', job: flight.job };
  }

  async function finishHedge(
    report: ReportedAttempt,
    result: JobResult,
    hedged: NonNullable<Unfit['hedged']>,
  ): Promise<ReportResult> {
    const { flight, hedge } = hedged;
    if (isTranslationMissing(flight, result)) return endHedge(hedged);
    if (isEnding(flight) || !(await settleJob.finishHedge(flight, result, hedge))) {
      await releaseLate(report);
      return ignore('result', report, unfit(flight.job));
    }
    engine.meter.count('scheduler_hedges_total', WON);
    engine.nodes.outcome(report.nodeId, 'succeeded', flight.compiled.need);
    return { kind: 'accepted', job: flight.job };
  }

  return {
    async dispatched(report, handOver) {
      const found = find('ack', report);
      const flight = found instanceof Promise ? await found : found;
      if ('unfit' in flight) return isOfHedge(flight) ?? ignore('ack', report, flight);
      if (isPathUnknown(flight, namedAttempt(flight, report))) {
        noteDelivered(flight, { kind: 'written', ...handOver });
        if (flight.job.state === 'DISPATCHED') timeouts.attemptSent(flight);
        await writeDispatched(engine, flight);
      }
      return { kind: 'accepted', job: flight.job };
    },

    async undeliverable(report, reason) {
      const { jobId, nodeId, attempt } = report;
      engine.log.info(
        { job_id: jobId, node_id: nodeId, attempt_id: attempt, reason },
        'the job was not delivered: undeliverable',
      );
      const found = find('failure', report);
      const flight = found instanceof Promise ? await found : found;
      if ('unfit' in flight && flight.hedged !== undefined) return endHedge(flight.hedged);
      if ('unfit' in flight || isEnding(flight) || flight.job.state !== 'DISPATCHED') {
        // An attempt that was acknowledged keeps its slot: the node reported that it has the job.
        if (!('unfit' in flight) && flight.job.state === 'RUNNING')
          return ignore('failure', report, unfit(flight.job, 'fenced'));
        // The job may wait for a slot: of this node, too, because the node never got the job.
        if (!('unfit' in flight)) markNotHandedOver(flight, nodeId);
        await releaseLate(report);
        return ignore('failure', report, 'unfit' in flight ? flight : unfit(flight.job, 'fenced'));
      }
      markNotHandedOver(flight, nodeId);
      const message = `the job could not be handed to the node: ${reason}`;
      await retryOrFail.abandonAttempt(flight, {
        code: 'NODE_UNAVAILABLE',
        message,
        timelineReason: UNDELIVERABLE,
        isCounted: false,
        side: 'over',
      });
      engine.nodes.outcome(nodeId, 'unproven', flight.compiled.need);
      return { kind: 'accepted', job: flight.job };
    },

    async acknowledge(report) {
      const receivedAt = engine.clock.precise();
      const found = find('ack', report);
      const flight = found instanceof Promise ? await found : found;
      if ('unfit' in flight) {
        if (flight.hedged !== undefined) flight.hedged.hedge.isAcknowledged = true;
        return isOfHedge(flight) ?? ignore('ack', report, flight);
      }
      const { fence, state } = flight.job;
      if (report.generation !== undefined && isPathUnknown(flight, namedAttempt(flight, report)))
        noteDelivered(flight, { kind: 'written', generation: report.generation });
      if (state === 'RUNNING' || fence === undefined) return { kind: 'accepted', job: flight.job };
      const needsCommit = lateCommits.isNeeded(flight, fence);
      // Received in time, however long the write takes: a slow store must not make the driver abandon the node.
      timeouts.acknowledged(flight);
      // An attempt that seemed over goes on, unless its outcome is being written, or a later report ends it.
      if (!isEnding(flight)) noteReopened(flight, fence.attempt);
      if (needsCommit) {
        const hasSlot = await lateCommits.commit(flight, fence);
        if (isDropped(flight)) return ignore('ack', report, unfit(flight.job, 'fenced'));
        // Another attempt may have the job by now, and then this lease is not needed.
        if (isOver(flight, fence)) {
          await lateCommits.undo(flight, fence);
          return ignore('ack', report, unfit(flight.job));
        }
        if (!hasSlot) {
          await lateCommits.loseSlot(flight, fence);
          return ignore('ack', report, unfit(flight.job, 'lease_lost'));
        }
      }
      while (flight.job.state !== 'RUNNING' && !(await advance(engine, flight, 'acknowledged', RAN))) {
        if (flight.driving !== 'ours' || isOver(flight, fence))
          return ignore('ack', report, unfit(flight.job, 'fenced'));
      }
      if (!holdsFence(flight.job, fence.nodeId, fence.attempt))
        return ignore('ack', report, unfit(flight.job, 'fenced'));
      noteStage(engine, ACK, receivedAt - flight.sentAt);
      flight.abandonedAttempt = 0;
      // Another node may have been tried meanwhile: from now on the loss of this node counts again.
      engine.inFlightJobs.setNode(flight, fence.nodeId);
      if (flight.attempts !== fence.attempt) {
        flight.path = FORGOTTEN_PATH;
        cancelUnconfirmed(engine, flight, fence);
      }
      flight.stopWaiting?.();
      if (flight.audioAt === 'awaited') flight.audioAt = 'missing';
      timeouts.acknowledged(flight);
      hedging.watch(flight);
      return { kind: 'accepted', job: flight.job };
    },

    async tell(report, text) {
      const found = find('text', report);
      const flight = found instanceof Promise ? await found : found;
      if ('unfit' in flight || isEnding(flight))
        return ignore('text', report, 'unfit' in flight ? flight : unfit(flight.job, 'fenced'));
      engine.told?.(flight.job.jobId, text);
      return { kind: 'accepted', job: flight.job };
    },

    async finish(report, result) {
      const receivedAt = engine.clock.precise();
      const found = find('result', report);
      const flight = found instanceof Promise ? await found : found;
      if ('unfit' in flight && flight.hedged !== undefined) return finishHedge(report, result, flight.hedged);
      // Another outcome is being written; but the slot is free.
      if ('unfit' in flight || isEnding(flight)) {
        await releaseLate(report);
        return ignore('result', report, 'unfit' in flight ? flight : unfit(flight.job, 'fenced'));
      }
      // A repeated report: another node is being searched already.
      if (isTranslationMissing(flight, result) && isRepeatedReport(flight))
        return ignore('result', report, unfit(flight.job, 'fenced'));
      const ranMs = receivedAt - startOfRun(flight);
      if (isTranslationMissing(flight, result) && isOut(flight.job)) {
        noteStage(engine, RUN, ranMs);
        flight.fallback = withoutTranslation(result);
        await retryOrFail.abandonAttempt(flight, { ...UNTRANSLATED, isCounted: true, side: 'over' });
        engine.nodes.outcome(report.nodeId, 'unproven', flight.compiled.need);
        return { kind: 'accepted', job: flight.job };
      }
      const finishing = settleJob.finish(
        flight,
        isTranslationMissing(flight, result) ? withoutTranslation(result) : result,
      );
      const isFinished = finishing instanceof Promise ? await finishing : finishing;
      if (!isFinished) return ignore('result', report, unfit(flight.job, 'fenced'));
      noteStage(engine, RUN, ranMs);
      engine.slow?.took('result', engine.clock.precise() - receivedAt);
      engine.nodes.outcome(report.nodeId, 'succeeded', flight.compiled.need);
      return { kind: 'accepted', job: flight.job };
    },

    async fail(report, failure) {
      const receivedAt = engine.clock.precise();
      const found = find('failure', report);
      const flight = found instanceof Promise ? await found : found;
      if ('unfit' in flight && flight.hedged !== undefined) {
        if (failure.code === 'NODE_OVERLOADED') noteOverload(report.nodeId);
        return endHedge(flight.hedged);
      }
      // A failure of an abandoned attempt changes nothing either.
      if ('unfit' in flight || isEnding(flight) || !isOut(flight.job)) {
        await releaseLate(report);
        return ignore('failure', report, 'unfit' in flight ? flight : unfit(flight.job, 'fenced'));
      }
      engine.log.info(
        attemptFields(flight.job, failure.code),
        failure.code === 'NO_RESULT'
          ? 'a node left a job out of two heartbeats'
          : 'a node reported a failure',
      );
      noteStage(engine, RUN, receivedAt - startOfRun(flight));
      const meaning = meaningOf(failure, !flight.doesAcknowledge);
      // The instance that served the audio may have died: then the node is not to blame, and no other node would succeed.
      const isAudioGone = failure.code === 'AUDIO_LOST' && typeof flight.audioAt === 'object';
      if (isAudioGone) flight.audioAt = 'missing';
      else if (meaning.blamesNode) engine.nodes.outcome(report.nodeId, 'failed', flight.compiled.need);
      if (failure.code === 'MODEL_NOT_AVAILABLE')
        engine.nodes.modelNotAvailable(report.nodeId, failure.details ?? {});
      const { code, message } = failure;
      if (meaning.isRetryable) {
        // Before the release of the slot, which would send the next waiting job to this node.
        if (code === 'NODE_OVERLOADED') noteOverload(report.nodeId);
        await retryOrFail.abandonAttempt(flight, {
          code,
          message,
          isCounted: meaning.isCounted,
          side: 'over',
        });
      } else {
        await retryOrFail.conclude(flight, { code, message }, 'over', flight.job.fence);
      }
      // After that: an overloaded node must be paused before it can be selected again.
      if (!meaning.blamesNode && code !== 'MODEL_NOT_AVAILABLE')
        engine.nodes.outcome(report.nodeId, 'unproven', flight.compiled.need);
      return { kind: 'accepted', job: flight.job };
    },
  };
}

const LATE = {
  ack: 'late ack: it changes nothing',
  text: 'late text: it changes nothing',
  result: 'late result: it changes nothing',
  failure: 'late failure: it changes nothing',
} as const satisfies Record<Kind, string>;

const unfit = (
  job: JobRecord,
  reason: Ignored['reason'] = isSettled(job.state) ? 'settled' : 'fenced',
): Unfit => ({ unfit: reason, job });

const RAN = { intent: null } as const;
const WON = { outcome: 'won' };

const UNTRANSLATED = {
  code: 'PROCESSING_ERROR',
  message: 'the node recognised speech but returned no translation',
};

/** The client gets the recognised text and the reason. */
function withoutTranslation(result: JobResult): JobResult {
  const codes = result.details?.reason_codes;
  const reason_codes = [...(Array.isArray(codes) ? codes : []), 'NO_TRANSLATION'];
  return { ...result, details: { ...result.details, reason_codes } };
}

/** The time of the acknowledgement, or of the send if there was none. */
function startOfRun({ job, sentAt }: InFlightJob): number {
  const { fence, timeline } = job;
  const isStart = ({ state, attempt }: TimelineEntry) => state === 'RUNNING' && attempt === fence?.attempt;
  return timeline.findLast(isStart)?.at ?? sentAt;
}

/** The node of the current attempt has already returned its result. */
const isRepeatedReport = (flight: InFlightJob): boolean =>
  flight.fallback !== undefined && hasReleased(flight, flight.job.fence?.attempt ?? 0);

function namedAttempt(flight: InFlightJob, report: ReportedAttempt): number {
  if (report.attempt !== ANY_ATTEMPT) return report.attempt;
  const { fence, intent } = flight.job;
  if (fence?.nodeId === report.nodeId) return fence.attempt;
  return intent?.nodeId === report.nodeId ? intent.attempt : ANY_ATTEMPT;
}

/** The result of a legacy node for an utterance that arrived after a later one of its session. */
const isTranslationMissing = (flight: InFlightJob, result: JobResult): boolean =>
  flight.job.spec.pipeline.use_nmt && result.textAsr !== '' && result.textTranslated === '';
