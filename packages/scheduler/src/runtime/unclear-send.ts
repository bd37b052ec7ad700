/** Hot path, seldom: a send of which nobody can say whether it arrived, and no other node to turn to. Its own may speak up yet. */
import { leaseId } from '../domain/lease.ts';
import { type Engine, leaveFenced } from './engine.ts';
import type { Flight } from './flight.ts';
import type { GivingUp } from './giving-up.ts';
import { watchLeaseEnd } from './lease-end.ts';
import { withdrawUnclear } from './other-leases.ts';

export interface UnclearSends {
  /** The job is accepted, whatever comes of the send: its node may be at work on it. Without a word of that node it is tried elsewhere. */
  awaitWord(flight: Flight): void;
}

export function createUnclearSends(engine: Engine, givingUp: GivingUp): UnclearSends {
  const { clock, wheel, settings } = engine;

  /**
   * Nothing it says counts from here on, so its client is not kept waiting for long. One that was adopted is: right after the death
   * of an instance its nodes are on their way back.
   */
  function tryElsewhere(flight: Flight): void {
    void givingUp.tryElsewhere(flight, isAdopted(flight) ? 'open' : 'over');
  }

  function silent(flight: Flight): void {
    const { jobId, intent } = flight.job;
    if (intent === undefined) return;
    const { nodeId, attempt } = intent;
    engine.meter.count('scheduler_ack_timeout_total');
    flight.lastFailure = {
      code: 'NODE_UNAVAILABLE',
      message: `${nodeId} may have been sent the job and did not say so within ${settings.ackTimeoutMs} ms`,
    };
    // Sent by an instance that is gone: nobody else looks after that slot, so the node's reports may. Of our own send see `notSent`.
    if (isAdopted(flight)) void leaveFenced(engine, nodeId, leaseId(jobId, attempt));
    watchLeaseEnd(engine, nodeId);
    withdrawUnclear(engine, flight, undefined);
    tryElsewhere(flight);
  }

  return {
    awaitWord(flight) {
      const { intent } = flight.job;
      // Another node was meant to have it since, and could not be reached: by the record that is the one whose word would count.
      if (intent === undefined || intent.attempt !== flight.attempts) {
        tryElsewhere(flight);
        return;
      }
      engine.flights.board(flight, intent.nodeId);
      flight.attemptTimer = wheel.setAt(clock.now() + settings.ackTimeoutMs, silent, flight);
    },
  };
}

const isAdopted = ({ slotUntil }: Flight): boolean => slotUntil === 0;
