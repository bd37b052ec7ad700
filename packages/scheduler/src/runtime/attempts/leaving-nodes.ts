/** Failure path: a node has announced when it stops. Its jobs that will not have ended by then move to other nodes at once. */
import type { NodeId } from '../../domain/ids.ts';
import { isOut } from '../../domain/job.ts';
import type { Engine } from '../engine.ts';
import type { InFlightJob } from '../in-flight-job.ts';
import { expectedRunMs } from './expected-run.ts';
import type { RetryOrFail } from './retry-or-fail.ts';
import type { Timer } from './timer-wheel.ts';

/** `at`: when the node stops; undefined: it stays. */
export type NodeLeaving = (nodeId: NodeId, at: number | undefined) => void;

export function createNodeLeaving(
  engine: Engine,
  retryOrFail: Pick<RetryOrFail, 'abandonAttempt'>,
): NodeLeaving {
  /** Bounded by the number of nodes: one end each. */
  const ends = new Map<NodeId, Timer>();

  function move(nodeId: NodeId, isInTime: (flight: InFlightJob) => boolean): void {
    for (const flight of engine.inFlightJobs.on(nodeId)) {
      const { fence } = flight.job;
      if (fence?.nodeId !== nodeId || !isOut(flight.job) || isInTime(flight)) continue;
      void retryOrFail.abandonAttempt(flight, LEAVING);
    }
  }

  return (nodeId, at) => {
    ends.get(nodeId)?.cancel();
    ends.delete(nodeId);
    if (at === undefined) return;
    const leftMs = at - engine.clock.now();
    move(nodeId, (flight) => (remainingMs(engine, flight, nodeId) ?? 0) <= leftMs);
    // What took longer than expected must not wait until the lost connection is noticed.
    ends.set(
      nodeId,
      engine.wheel.set(Math.max(0, leftMs), () => {
        ends.delete(nodeId);
        move(nodeId, () => false);
      }),
    );
  };
}

/** Neither a fault of the job nor of the node. */
const LEAVING = {
  code: 'NODE_UNAVAILABLE',
  message: 'the node stops before it has done the job',
  isCounted: false,
  side: 'open',
} as const;

/** Undefined: no job has ended yet. A job that takes longer than expected is expected to take half as long again. */
function remainingMs(engine: Engine, flight: InFlightJob, nodeId: NodeId): number | undefined {
  const totalMs = expectedRunMs(engine, flight, nodeId) ?? engine.slotTimes.meanMs();
  if (totalMs === undefined) return undefined;
  return Math.max(totalMs - (engine.clock.now() - flight.sentAt), totalMs / 2);
}
