/** Hot path: the outcome of a job — exactly one — and giving back what it held. */

import type { JobResult } from '../domain/job-spec.ts';
import { leaseId } from '../domain/lease.ts';
import { advance, type Engine, giveBack, leaveFenced } from './engine.ts';
import type { Flight } from './flight.ts';
import { watchLeaseEnd } from './lease-end.ts';

/** `over`: the node is done with the job, or never had it. `open`: it may still be working on it. */
export type NodeSide = 'over' | 'open';

export interface Settling {
  finish(flight: Flight, result: JobResult): Promise<boolean>;
  fail(flight: Flight, failure: { code: string; message: string }, side: NodeSide): Promise<boolean>;
  /** Calls once no job is in flight. */
  onIdle(listen: () => void): void;
}

/** A store that was down when a job should have ended is asked again after this long. */
const ASK_AGAIN_MS = 1_000;

export function createSettling(engine: Engine): Settling {
  const idle: (() => void)[] = [];

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
    if (engine.flights.size() === 0) for (const listen of idle.splice(0)) listen();
  }

  const self: Settling = {
    async finish(flight, result) {
      const step = flight.job.state === 'RUNNING' ? { result } : { result, via: 'acknowledged' as const };
      if (!(await advance(engine, flight, 'finished', { ...step, intent: null }))) return false;
      engine.meter.count('scheduler_jobs_settled_total', FINISHED);
      await close(flight, 'over');
      return true;
    },

    async fail(flight, failure, side) {
      const hasMoved = await advance(engine, flight, 'failed', {
        failure,
        reason: failure.code,
        intent: null,
      });
      if (!hasMoved) {
        if (engine.flights.get(flight.job.jobId) === flight && !isOutcome(flight)) {
          engine.wheel.set(ASK_AGAIN_MS, () => void self.fail(flight, failure, side));
        }
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

    onIdle(listen) {
      if (engine.flights.size() === 0) listen();
      else idle.push(listen);
    },
  };
  return self;
}

const FINISHED = { outcome: 'finished', code: '' };

const isOutcome = (flight: Flight): boolean =>
  flight.job.state === 'FINISHED' || flight.job.state === 'FAILED' || flight.job.state === 'RELEASED';
