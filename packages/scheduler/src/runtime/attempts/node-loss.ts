/** Failure path: a node disconnected or reconnected; its jobs are retried or go on. */
import type { NodeId } from '../../domain/ids.ts';
import { isOut } from '../../domain/job.ts';
import type { Engine } from '../engine.ts';
import type { InFlightJob } from '../in-flight-job.ts';
import type { JobService } from '../job-service.ts';
import type { RetryOrFail } from './retry-or-fail.ts';
import { abandonLeaseOf } from './superseded-leases.ts';
import type { Timer } from './timer-wheel.ts';

export function createNodeLoss(
  engine: Engine,
  retryOrFail: RetryOrFail,
  acknowledge: JobService['acknowledge'],
): Pick<JobService, 'nodeLeft' | 'nodeReturned'> {
  /** Bounded by the number of nodes: one grace each. */
  const graces = new Map<NodeId, Timer>();

  function abandon(flight: InFlightJob, nodeId: NodeId, message: string, isOver: boolean): void {
    const { fence, intent } = flight.job;
    if (intent?.nodeId === nodeId) {
      // The send is not recorded yet: the attempt is abandoned as soon as it is.
      flight.leftDuringSend = nodeId;
      return;
    }
    if (fence?.nodeId !== nodeId || !isOut(flight.job)) return;
    // The node may live and work on the job: its next report decides about the slot.
    if (!isOver) void abandonLeaseOf(engine, flight, fence);
    const side = isOver ? 'over' : 'open';
    void retryOrFail.abandonAttempt(flight, {
      code: 'WS_DISCONNECTED',
      message,
      isCounted: true,
      side,
      isLoss: true,
    });
  }

  /** The node could not name the job when it reconnected, or that is unknown. */
  const isLaterThan = ({ job, path }: InFlightJob, nodeId: NodeId, returned: number | undefined): boolean =>
    returned !== undefined &&
    (job.intent?.nodeId === nodeId || (path.generation !== undefined && path.generation >= returned));

  /** Not lost: the job is in the node's mailbox until the acknowledgement timeout. */
  const isUnfetched = ({ job, path }: InFlightJob): boolean => path.isInMailbox && job.state === 'DISPATCHED';

  function lose(nodeId: NodeId): void {
    graces.delete(nodeId);
    for (const flight of engine.inFlightJobs.on(nodeId))
      abandon(flight, nodeId, 'the node disconnected', false);
  }

  return {
    nodeLeft(nodeId, graceMs) {
      graces.get(nodeId)?.cancel();
      // A node that had announced its end does not return.
      const isGone = graceMs <= 0 || engine.fleet.view(nodeId)?.leavingAt !== undefined;
      if (isGone) lose(nodeId);
      else
        graces.set(
          nodeId,
          engine.wheel.set(graceMs, () => lose(nodeId)),
        );
    },

    nodeReturned(nodeId, runningJobIds, generation) {
      graces.get(nodeId)?.cancel();
      graces.delete(nodeId);
      if (runningJobIds === undefined) return;
      const running = new Set(runningJobIds);
      for (const flight of engine.inFlightJobs.on(nodeId)) {
        const { jobId, fence, intent } = flight.job;
        if (running.has(jobId)) {
          if (flight.leftDuringSend === nodeId) flight.leftDuringSend = undefined;
          // Its acknowledgement may have been lost with the connection: naming the job is one.
          const attempt = intent?.nodeId === nodeId ? intent : fence;
          if (attempt !== undefined)
            void acknowledge({ nodeId, jobId, attempt: attempt.attempt, generation });
        } else if (!isUnfetched(flight) && !isLaterThan(flight, nodeId, generation)) {
          // A job that did not use the node's connection may have arrived after the list was written: its slot is not released (I1).
          abandon(flight, nodeId, 'the node reconnected without the job', !flight.path.isOutOfBand);
        }
      }
    },
  };
}
