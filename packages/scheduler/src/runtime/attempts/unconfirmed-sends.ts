/** Failure path: a send with an unknown result when no other node is available. Its node may still report. */
import { advance, type Engine } from '../engine.ts';
import { type InFlightJob, nodesOf } from '../in-flight-job.ts';
import { watchLeaseEnd } from './lease-expiry.ts';
import type { RetryOrFail } from './retry-or-fail.ts';
import { abandonLeaseOf } from './superseded-leases.ts';
import { isAckTimeoutExtended } from './timeouts.ts';

export interface UnconfirmedSends {
  /** Accepts the job, because its node may work on it. Without a report of that node the job is tried elsewhere. */
  awaitReport(flight: InFlightJob): Promise<void>;
}

export function createUnconfirmedSends(engine: Engine, retryOrFail: RetryOrFail): UnconfirmedSends {
  const { clock, wheel, settings } = engine;

  function reportMissing(flight: InFlightJob): void {
    const { intent } = flight.job;
    if (!isOpen(flight) || intent === undefined) return;
    // A report has arrived and is being written.
    if (flight.recording !== undefined || isAckTimeoutExtended(engine, flight)) {
      waitForReport(flight);
      return;
    }
    const { nodeId } = intent;
    engine.meter.count('scheduler_ack_timeout_total');
    flight.lastFailure = {
      code: 'ACK_TIMEOUT',
      message: `the node may have the job but did not report within ${settings.ackTimeoutMs} ms`,
    };
    // From now on the holder cannot hand the job over: it cannot commit an abandoned lease.
    void abandonLeaseOf(engine, flight, intent);
    watchLeaseEnd(engine, nodeId);
    // The node of a resumed job may be reconnecting after its holder died, so the job waits for it. Otherwise reports of the node
    // do not count any more, and the client does not wait for long.
    void retryOrFail.tryElsewhere(flight, flight.isResumed ? 'open' : 'over');
  }

  function waitForReport(flight: InFlightJob): void {
    flight.attemptTimer = wheel.setAt(clock.now() + settings.ackTimeoutMs, reportMissing, flight);
  }

  /** A later node was intended and could not be reached. The record must name the node whose report counts. */
  async function restoreIntent(flight: InFlightJob): Promise<boolean> {
    const nodeId = nodesOf(flight.sentTo).at(-1);
    if (nodeId === undefined) return false;
    return advance(engine, flight, 'reserved', { intent: { nodeId, attempt: flight.attempts } });
  }

  return {
    async awaitReport(flight) {
      // The record of a resumed job names the intended node.
      const isIntended =
        flight.isResumed || flight.job.intent?.attempt === flight.attempts || (await restoreIntent(flight));
      const { intent } = flight.job;
      if (!isIntended || !isOpen(flight) || intent === undefined) return;
      engine.inFlightJobs.setNode(flight, intent.nodeId);
      waitForReport(flight);
    },
  };
}

/** Neither a report nor another instance has moved the job since. */
const isOpen = ({ job, driving }: InFlightJob): boolean => job.state === 'RESERVED' && driving === 'ours';
