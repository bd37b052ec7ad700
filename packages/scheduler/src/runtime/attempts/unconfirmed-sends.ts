/** Hot path, seldom: a send of which nobody can say whether it arrived, and no other node to turn to. Its own may speak up yet. */
import { leaseId } from '../../domain/lease.ts';
import { advance, type Engine, leaveFenced } from '../engine.ts';
import { type InFlightJob, nodesOf } from '../in-flight-job.ts';
import { watchLeaseEnd } from './lease-expiry-watch.ts';
import type { RetryOrFail } from './retry-or-fail.ts';
import { isPatient } from './timeouts.ts';

export interface UnconfirmedSends {
  /** The job is accepted, whatever comes of the send: its node may be at work on it. Without a word of that node it is tried elsewhere. */
  awaitWord(flight: InFlightJob): Promise<void>;
}

export function createUnconfirmedSends(engine: Engine, retryOrFail: RetryOrFail): UnconfirmedSends {
  const { clock, wheel, settings } = engine;

  function silent(flight: InFlightJob): void {
    const { jobId, intent } = flight.job;
    if (!isOpen(flight) || intent === undefined) return;
    // It has spoken, and that is being written.
    if (flight.recording !== undefined || isPatient(engine, flight)) {
      listen(flight);
      return;
    }
    const { nodeId, attempt } = intent;
    engine.meter.count('scheduler_ack_timeout_total');
    flight.lastFailure = {
      code: 'NODE_UNAVAILABLE',
      message: `${nodeId} may have been sent the job and did not say so within ${settings.ackTimeoutMs} ms`,
    };
    // Should it be in a mailbox: nobody fetches it any more, and of one that did the slot does not last.
    engine.link.giveUp?.(nodeId, jobId, attempt);
    if (!isAdopted(flight)) {
      // Nothing it says counts from here on, so the client is not kept waiting for long.
      void retryOrFail.tryElsewhere(flight, 'over');
      return;
    }
    // Sent by an instance that is gone: nobody else looks after that slot, so the node's reports may. Of our own send see `notSent`.
    void leaveFenced(engine, nodeId, leaseId(jobId, attempt));
    watchLeaseEnd(engine, nodeId);
    // Right after the death of an instance its nodes are on their way back: they are waited for.
    void retryOrFail.tryElsewhere(flight, 'open');
  }

  function listen(flight: InFlightJob): void {
    flight.attemptTimer = wheel.setAt(clock.now() + settings.ackTimeoutMs, silent, flight);
  }

  /** Another node was meant to have it since, and could not be reached. By the record that would be the one whose word counts. */
  async function isMeantAgain(flight: InFlightJob): Promise<boolean> {
    const nodeId = nodesOf(flight.sentTo).at(-1);
    if (nodeId === undefined) return false;
    return advance(engine, flight, 'reserved', { intent: { nodeId, attempt: flight.attempts } });
  }

  return {
    async awaitWord(flight) {
      // The record of one that was taken over says for whom it is meant, also if another was since and could not be reached.
      const isMeant =
        isAdopted(flight) || flight.job.intent?.attempt === flight.attempts || (await isMeantAgain(flight));
      const { intent } = flight.job;
      if (!isMeant || !isOpen(flight) || intent === undefined) return;
      engine.inFlightJobs.board(flight, intent.nodeId);
      listen(flight);
    },
  };
}

/** Nobody has moved it, or taken it over, since. */
const isOpen = ({ job, driving }: InFlightJob): boolean => job.state === 'RESERVED' && driving === 'ours';

const isAdopted = ({ slotUntil }: InFlightJob): boolean => slotUntil === 0;
