/**
 * Failure path: an acknowledgement of an attempt whose lease may be gone.
 *
 * A lease is committed when its job is handed to the node, so an ordinary acknowledgement does not touch it. But the driver may have
 * abandoned the attempt since, and then the lease is marked and may have ended. If the acknowledgement is accepted all the same, the
 * lease is committed once more, and may take a free slot again; if there is none, the attempt is cancelled (I1).
 */
import { type Attempt, holdsFence, isOut, isSettled } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import { abandonLease, type Engine, releaseForGood } from '../engine.ts';
import {
  hasReleased,
  type InFlightJob,
  isDropped,
  isLeaseAbandoned,
  noteLeaseCommitted,
} from '../in-flight-job.ts';
import { leaseLeftMs } from './lease-expiry.ts';
import type { RetryOrFail } from './retry-or-fail.ts';

export interface LateCommits {
  /** Whether the lease of the attempt has to be committed before its acknowledgement is accepted. */
  isNeeded(flight: InFlightJob, of: Attempt): boolean;
  /** False: other leases hold every slot. A failed commit is repeated while the attempt goes on. */
  commit(flight: InFlightJob, of: Attempt): Promise<boolean>;
  /** The attempt ended during the commit: the lease is released or marked again. */
  undo(flight: InFlightJob, of: Attempt): Promise<void>;
  /** There was no slot: the node gets a cancel, and the job is tried elsewhere. */
  loseSlot(flight: InFlightJob, of: Attempt): Promise<void>;
}

const AGAIN_MS = 250;

export function createLateCommits(engine: Engine, retryOrFail: RetryOrFail): LateCommits {
  const { settings, ledger } = engine;

  async function commit(flight: InFlightJob, of: Attempt): Promise<boolean> {
    const { nodeId, attempt } = of;
    const lease = leaseId(flight.job.jobId, attempt);
    try {
      const ttlMs = leaseLeftMs(flight, settings, engine.clock.now());
      const committed = await ledger.commit(nodeId, lease, ttlMs, true);
      if (committed.kind === 'unknown_node') return true;
      engine.fleet.setLoad(nodeId, committed);
      if (committed.kind !== 'committed') return false;
      noteLeaseCommitted(flight, attempt);
      return true;
    } catch (fault) {
      engine.log.warn({ node_id: nodeId, lease, err: fault }, 'a late commit failed; trying again');
      engine.wheel.set(AGAIN_MS, () => void commitAgain(flight, of));
      return true;
    }
  }

  async function commitAgain(flight: InFlightJob, of: Attempt): Promise<void> {
    const isCurrent = engine.inFlightJobs.get(flight.job.jobId) === flight;
    if (!isCurrent || isOver(flight, of) || flight.abandonedAttempt === of.attempt) return;
    const hasSlot = await commit(flight, of);
    if (isDropped(flight)) return;
    if (isOver(flight, of)) await undo(flight, of);
    else if (!hasSlot) await loseSlot(flight, of);
  }

  async function undo(flight: InFlightJob, { nodeId, attempt }: Attempt): Promise<void> {
    const lease = leaseId(flight.job.jobId, attempt);
    await (hasReleased(flight, attempt)
      ? releaseForGood(engine, nodeId, lease)
      : abandonLease(engine, nodeId, lease));
  }

  async function loseSlot(flight: InFlightJob, { nodeId, attempt }: Attempt): Promise<void> {
    engine.meter.count('scheduler_leases_lost_total');
    engine.link.cancel(nodeId, flight.job.jobId, 'lease_lost');
    const message = 'the node acknowledged after another job had taken its slot';
    if (isOut(flight.job) && holdsFence(flight.job, nodeId, attempt))
      await retryOrFail.abandonAttempt(flight, {
        code: 'NODE_OVERLOADED',
        message,
        isCounted: true,
        side: 'open',
      });
  }

  return {
    isNeeded: (flight, { attempt }) =>
      flight.isResumed ||
      flight.abandonedAttempt === attempt ||
      isLeaseAbandoned(flight, attempt) ||
      hasReleased(flight, attempt) ||
      // The fetch committed the lease without waiting for a replica.
      (settings.isReplicaAwaited && flight.path.isInMailbox),
    commit,
    undo,
    loseSlot,
  };
}

/** Another attempt has the job, or the job has its outcome, or the node has ended this attempt. */
export const isOver = (flight: InFlightJob, { nodeId, attempt }: Attempt): boolean =>
  isSettled(flight.job.state) || !holdsFence(flight.job, nodeId, attempt) || hasReleased(flight, attempt);
