/** Hot path: what happens when time runs out on an attempt or on a job. */
import type { NodeId } from '../domain/ids.ts';
import type { Engine } from './engine.ts';
import type { Flight } from './flight.ts';
import type { GivingUp } from './giving-up.ts';
import type { Settling } from './settling.ts';

export interface Deadlines {
  /** The whole job, waiting and all attempts included. */
  startJob(flight: Flight): void;
  attemptSent(flight: Flight, nodeId: NodeId, doesAcknowledge: boolean): void;
  acknowledged(flight: Flight): void;
}

export function createDeadlines(
  engine: Engine,
  parts: { givingUp(): GivingUp; settling: Settling },
): Deadlines {
  const { wheel, settings } = engine;

  function holds(flight: Flight, attempt: number): boolean {
    const { state, fence } = flight.job;
    return fence?.attempt === attempt && (state === 'DISPATCHED' || state === 'RUNNING');
  }

  function ackMissed(flight: Flight, nodeId: NodeId, attempt: number): void {
    if (!holds(flight, attempt) || flight.job.state !== 'DISPATCHED') return;
    engine.meter.count('scheduler_ack_timeout_total');
    engine.nodes.outcome(nodeId, 'failed');
    const message = `${nodeId} did not acknowledge within ${settings.ackTimeoutMs} ms`;
    void parts
      .givingUp()
      .giveUp(flight, { code: 'NODE_UNAVAILABLE', message, isCounted: true, side: 'open' });
  }

  function runTooLong(flight: Flight, nodeId: NodeId, attempt: number, doesAcknowledge: boolean): void {
    if (!holds(flight, attempt)) return;
    engine.nodes.outcome(nodeId, 'failed');
    const failure = {
      code: 'JOB_TIMEOUT',
      message: `${nodeId} gave no result within ${settings.jobTimeoutMs} ms`,
    };
    // A node in the field may stay silent on purpose, having merged the audio into another utterance: nothing to retry.
    if (doesAcknowledge) void parts.givingUp().giveUp(flight, { ...failure, isCounted: true, side: 'open' });
    else void parts.givingUp().conclude(flight, failure, 'open');
  }

  function armRun(flight: Flight, nodeId: NodeId, doesAcknowledge: boolean): void {
    const attempt = flight.attempts;
    const leftMs = flight.sentAt + settings.jobTimeoutMs - engine.clock.now();
    flight.attemptTimer?.cancel();
    flight.attemptTimer = wheel.set(leftMs, () => runTooLong(flight, nodeId, attempt, doesAcknowledge));
  }

  return {
    startJob(flight) {
      flight.deadlineTimer = wheel.set(flight.job.deadlineAt - engine.clock.now(), () => {
        const late = { code: 'JOB_TIMEOUT', message: `no outcome within ${settings.jobDeadlineMs} ms` };
        void parts.givingUp().conclude(flight, flight.lastFailure ?? late, 'open');
      });
    },
    attemptSent(flight, nodeId, doesAcknowledge) {
      if (!doesAcknowledge) {
        armRun(flight, nodeId, false);
        return;
      }
      const attempt = flight.attempts;
      flight.attemptTimer?.cancel();
      flight.attemptTimer = wheel.set(settings.ackTimeoutMs, () => ackMissed(flight, nodeId, attempt));
    },
    acknowledged(flight) {
      const { fence } = flight.job;
      if (fence !== undefined) armRun(flight, fence.nodeId, true);
    },
  };
}
