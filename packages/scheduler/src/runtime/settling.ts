/** Hot path: the outcome of a job — exactly one — and giving back what it held. */

import { type Attempt, isSettled } from '../domain/job.ts';
import type { JobResult } from '../domain/job-spec.ts';
import { leaseId } from '../domain/lease.ts';
import { advance, type Engine, giveBack, leaveFenced } from './engine.ts';
import type { Flight } from './flight.ts';
import { watchLeaseEnd } from './lease-end.ts';

/** `over`: the node is done with the job, or never had it. `open`: it may still be working on it. */
export type NodeSide = 'over' | 'open';

export interface Settling {
  finish(flight: Flight, result: JobResult, side?: NodeSide): Promise<boolean>;
  /** With an attempt: only while that one holds the fence. */
  fail(
    flight: Flight,
    failure: { code: string; message: string },
    side: NodeSide,
    of?: Attempt,
  ): Promise<boolean>;
}

export function createSettling(engine: Engine): Settling {
  async function close(flight: Flight, side: NodeSide): Promise<void> {
    flight.attemptTimer?.cancel();
    flight.deadlineTimer?.cancel();
    engine.flights.remove(flight);
    flight.stopWaiting?.();
    const { jobId, fence } = flight.job;
    engine.audio.drop(jobId);
    if (fence !== undefined && side === 'over')
      await giveBack(engine, fence.nodeId, leaseId(jobId, fence.attempt));
    if (fence !== undefined && side === 'open') {
      engine.link.cancel(fence.nodeId, jobId, flight.job.failure?.code ?? 'superseded');
      await leaveFenced(engine, fence.nodeId, leaseId(jobId, fence.attempt));
      watchLeaseEnd(engine, fence.nodeId);
    }
    await advance(
      engine,
      flight,
      'released',
      side === 'open' && fence ? { reason: 'lease_left_to_expire' } : {},
    );
  }

  /** The outcome was written by somebody else, or its record is gone: what the job held here ends all the same. */
  async function letGo(flight: Flight): Promise<void> {
    if (engine.flights.get(flight.job.jobId) !== flight) return;
    if (isSettled(flight.job.state) || flight.isLost) await close(flight, 'open');
  }

  const isOpen = (flight: Flight, of: Attempt | undefined): boolean =>
    !flight.isLost && !isSettled(flight.job.state) && (of === undefined || isSame(flight.job.fence, of));

  return {
    async finish(flight, result, side = 'over') {
      const { fence } = flight.job;
      for (;;) {
        const step = flight.job.state === 'RUNNING' ? { result } : { result, via: 'acknowledged' as const };
        if (await advance(engine, flight, 'finished', { ...step, intent: null })) break;
        if (isOpen(flight, fence)) continue;
        await letGo(flight);
        return false;
      }
      engine.meter.count('scheduler_jobs_settled_total', FINISHED);
      await close(flight, side);
      return true;
    },

    async fail(flight, failure, side, of) {
      const step = { failure, reason: failure.code, intent: null };
      if (of !== undefined && !isOpen(flight, of)) return false;
      while (!(await advance(engine, flight, 'failed', step))) {
        if (isOpen(flight, of)) continue;
        await letGo(flight);
        return false;
      }
      engine.meter.count('scheduler_jobs_settled_total', { outcome: 'failed', code: failure.code });
      engine.log.info(
        {
          job_id: flight.job.jobId,
          node_id: flight.job.fence?.nodeId,
          attempt_id: flight.attempts,
          reason: failure.code,
        },
        'a job failed',
      );
      await close(flight, side);
      return true;
    },
  };
}

const isSame = (one: Attempt | undefined, other: Attempt): boolean =>
  one?.nodeId === other.nodeId && one.attempt === other.attempt;

const FINISHED = { outcome: 'finished', code: '' };
