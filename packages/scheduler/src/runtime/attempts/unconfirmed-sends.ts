/** Hot path, seldom: a send of which nobody can say whether it arrived, and no other node to turn to. Its own may speak up yet. */
import { advance, type Engine } from '../engine.ts';
import { type InFlightJob, nodesOf } from '../in-flight-job.ts';
import { watchLeaseEnd } from './lease-expiry-watch.ts';
import type { RetryOrFail } from './retry-or-fail.ts';
import { abandonLeaseOf } from './superseded-leases.ts';
import { isAckTimeoutExtended } from './timeouts.ts';

export interface UnconfirmedSends {
  /** The job is accepted, whatever comes of the send: its node may be at work on it. Without a word of that node it is tried elsewhere. */
  awaitReport(flight: InFlightJob): Promise<void>;
}

export function createUnconfirmedSends(engine: Engine, retryOrFail: RetryOrFail): UnconfirmedSends {
  const { clock, wheel, settings } = engine;

  function reportMissing(flight: InFlightJob): void {
    const { intent } = flight.job;
    if (!isOpen(flight) || intent === undefined) return;
    // It has spoken, and that is being written.
    if (flight.recording !== undefined || isAckTimeoutExtended(engine, flight)) {
      waitForReport(flight);
      return;
    }
    const { nodeId } = intent;
    engine.meter.count('scheduler_ack_timeout_total');
    flight.lastFailure = {
      code: 'NODE_UNAVAILABLE',
      message: `${nodeId} may have been sent the job and did not say so within ${settings.ackTimeoutMs} ms`,
    };
    // From here on the holder cannot hand it over any more: it may not commit an abandoned lease.
    void abandonLeaseOf(engine, flight, intent);
    watchLeaseEnd(engine, nodeId);
    // The node of a job that was taken over may be on its way back from the instance that died, so the job waits for it. Otherwise no
    // report of the node counts from here on, and the client is not kept waiting for long.
    void retryOrFail.tryElsewhere(flight, flight.isResumed ? 'open' : 'over');
  }

  function waitForReport(flight: InFlightJob): void {
    flight.attemptTimer = wheel.setAt(clock.now() + settings.ackTimeoutMs, reportMissing, flight);
  }

  /** Another node was meant to have it since, and could not be reached. By the record that would be the one whose word counts. */
  async function restoreIntent(flight: InFlightJob): Promise<boolean> {
    const nodeId = nodesOf(flight.sentTo).at(-1);
    if (nodeId === undefined) return false;
    return advance(engine, flight, 'reserved', { intent: { nodeId, attempt: flight.attempts } });
  }

  return {
    async awaitReport(flight) {
      // The record of one that was taken over says for whom it is meant, also if another was since and could not be reached.
      const isIntended =
        flight.isResumed || flight.job.intent?.attempt === flight.attempts || (await restoreIntent(flight));
      const { intent } = flight.job;
      if (!isIntended || !isOpen(flight) || intent === undefined) return;
      engine.inFlightJobs.setNode(flight, intent.nodeId);
      waitForReport(flight);
    },
  };
}

/** Nobody has moved it, or taken it over, since. */
const isOpen = ({ job, driving }: InFlightJob): boolean => job.state === 'RESERVED' && driving === 'ours';
