/** Hot path: the timeouts of attempts and the deadline of jobs. */
import type { NodeId } from '../../domain/ids.ts';
import { isOut } from '../../domain/job.ts';
import type { Engine } from '../engine.ts';
import { attemptFields, type InFlightJob } from '../in-flight-job.ts';
import type { RetryOrFail } from './retry-or-fail.ts';

export interface Timeouts {
  /** Of the whole job, with its waits and all attempts. */
  startJob(flight: InFlightJob, deadlineAt?: number): void;
  attemptSent(flight: InFlightJob): void;
  /** The node has the job: it acknowledged, or it is a legacy node and its holder reported the hand-over. */
  acknowledged(flight: InFlightJob): void;
}

export function createTimeouts(engine: Engine, retryOrFail: () => RetryOrFail): Timeouts {
  const { wheel, settings } = engine;

  /** The node of the current attempt. */
  function nodeOf(flight: InFlightJob): NodeId | undefined {
    return isOut(flight.job) ? flight.job.fence?.nodeId : undefined;
  }

  function ackMissed(flight: InFlightJob): void {
    const nodeId = nodeOf(flight);
    if (nodeId === undefined || flight.job.state !== 'DISPATCHED') return;
    if (isAckTimeoutExtended(engine, flight)) {
      flight.attemptTimer = wheel.setAt(engine.clock.now() + settings.ackTimeoutMs, ackMissed, flight);
      return;
    }
    engine.meter.count('scheduler_ack_timeout_total');
    engine.log.warn(attemptFields(flight.job, 'ACK_TIMEOUT'), 'a job was not acknowledged in time');
    // A legacy node acknowledges nothing: its holder did not report.
    engine.nodes.outcome(nodeId, flight.doesAcknowledge ? 'failed' : 'unproven', flight.compiled.need);
    const message = flight.doesAcknowledge
      ? `the node did not acknowledge within ${settings.ackTimeoutMs} ms`
      : `the instance that holds the node did not report the hand-over within ${settings.ackTimeoutMs} ms`;
    void retryOrFail().abandonAttempt(flight, {
      code: 'ACK_TIMEOUT',
      message,
      isCounted: true,
      side: 'open',
    });
  }

  function jobTimedOut(flight: InFlightJob): void {
    const nodeId = nodeOf(flight);
    if (nodeId === undefined) return;
    const message = `the node returned no result within ${settings.jobTimeoutMs} ms`;
    const failure = { code: 'JOB_TIMEOUT', message };
    if (flight.doesAcknowledge) {
      engine.nodes.outcome(nodeId, 'failed', flight.compiled.need);
      void retryOrFail().abandonAttempt(flight, { ...failure, isCounted: true, side: 'open' });
      return;
    }
    // A legacy node may send no result because it merged the audio into another utterance: no retry, and no blame.
    void retryOrFail().conclude(flight, failure, 'open', flight.job.fence);
  }

  function deadlinePassed(flight: InFlightJob): void {
    const late = { code: 'JOB_TIMEOUT', message: `no outcome within ${settings.jobDeadlineMs} ms` };
    void retryOrFail().endAtDeadline(
      flight,
      flight.audioAt === 'awaited' ? AUDIO_GONE : (flight.lastFailure ?? late),
    );
  }

  function armRun(flight: InFlightJob): void {
    flight.attemptTimer?.cancel();
    flight.attemptTimer = wheel.setAt(flight.sentAt + settings.jobTimeoutMs, jobTimedOut, flight);
  }

  return {
    startJob(flight, deadlineAt = flight.job.deadlineAt) {
      flight.deadlineTimer = wheel.setAt(deadlineAt, deadlinePassed, flight);
    },
    attemptSent(flight) {
      const { leftDuringSend } = flight;
      flight.leftDuringSend = undefined;
      if (leftDuringSend !== undefined && leftDuringSend === flight.job.fence?.nodeId) {
        void retryOrFail().abandonAttempt(flight, {
          code: 'WS_DISCONNECTED',
          message: 'the node disconnected',
          isCounted: true,
          side: 'open',
          isLoss: true,
        });
        return;
      }
      if (!flight.doesAcknowledge && !flight.path.awaitsHolder) {
        armRun(flight);
        return;
      }
      flight.attemptTimer?.cancel();
      flight.attemptTimer = wheel.setAt(flight.sentAt + settings.ackTimeoutMs, ackMissed, flight);
    },
    acknowledged: armRun,
  };
}

/** How many acknowledgement timeouts may pass while Redis may delay the acknowledgement. */
const MAX_ACK_TIMEOUTS = 4;

export const isAckTimeoutExtended = (
  { isStoreSteady, clock, settings }: Engine,
  { sentAt }: InFlightJob,
): boolean => isStoreSteady?.() === false && clock.now() < sentAt + MAX_ACK_TIMEOUTS * settings.ackTimeoutMs;

const AUDIO_GONE = {
  code: 'AUDIO_LOST',
  message: 'the instance that held the audio is gone, so the job cannot be sent to another node',
};
