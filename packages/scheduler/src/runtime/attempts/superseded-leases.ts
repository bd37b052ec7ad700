/** Hot path, seldom: the leases of attempts that are not, or no longer, the one that counts. */
import type { NodeId } from '../../domain/ids.ts';
import { type Attempt, holdsFence } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import type { Placed } from '../dispatch/placed.ts';
import { type Engine, leaveFenced } from '../engine.ts';
import { hasReleased, type InFlightJob, isAbandoned, nodesOf } from '../in-flight-job.ts';
import { commitUnasked } from './commits.ts';
import { watchLeaseEnd } from './lease-expiry-watch.ts';

/** `sent` all the same if the answer was quicker than the record. */
export async function notSentThere(
  engine: Engine,
  flight: InFlightJob,
  nodeId: NodeId,
  attempt: number,
): Promise<Placed> {
  if (holdsFence(flight.job, nodeId, attempt)) return 'sent';
  // The attempt may go on under whoever drives the job now.
  if (isAbandoned(flight)) return 'overtaken';
  engine.link.cancel(nodeId, flight.job.jobId, 'superseded');
  leaveUnacknowledged(engine, flight, { nodeId, attempt });
  await leaveFenced(engine, nodeId, leaseId(flight.job.jobId, attempt));
  watchLeaseEnd(engine, nodeId);
  return 'overtaken';
}

export async function settleLeases(
  engine: Engine,
  flight: InFlightJob,
  nodeId: NodeId,
  attempt: number,
  before: Attempt | undefined,
): Promise<Placed> {
  const { jobId } = flight.job;
  // The attempt before is fenced now that it has a successor, and not earlier: until here its answer would have counted.
  if (before !== undefined && !hasReleased(flight, before.attempt)) {
    engine.link.cancel(before.nodeId, jobId, 'superseded');
    await leaveFenced(engine, before.nodeId, leaseId(jobId, before.attempt));
  }
  withdrawUnclear(engine, flight, before, nodeId);
  if (!flight.doesAcknowledge) await commitUnasked(engine, flight, { nodeId, attempt });
  return 'sent';
}

/**
 * Tells nodes to stop whose word counts no more, as it is written: those that were sent the job after the attempt that counted last, and
 * of which nobody knows whether they have it. `now`: the one that has it by now.
 */
export function withdrawUnclear(
  engine: Engine,
  flight: InFlightJob,
  counted: Attempt | undefined,
  now?: NodeId,
): void {
  const sent = nodesOf(flight.sentTo);
  const first = counted === undefined ? 0 : sent.indexOf(counted.nodeId) + 1;
  for (const nodeId of sent.slice(Math.max(first, flight.withdrawn))) {
    if (nodeId === now) continue;
    engine.link.cancel(nodeId, flight.job.jobId, 'superseded');
    const attempt = flight.job.timeline.findLast((entry) => entry.nodeId === nodeId)?.attempt;
    if (attempt !== undefined) leaveUnacknowledged(engine, flight, { nodeId, attempt });
  }
  flight.withdrawn = sent.length;
}

/**
 * Of an attempt that is given up while its node may have fetched it: its slot lasts since then, for as long as a job may run. Without a
 * word of the node it is not kept for longer than one that is only reserved (I2).
 */
export function leaveUnacknowledged(
  { link, nodes }: Engine,
  { job: { jobId, timeline } }: InFlightJob,
  { nodeId, attempt }: Attempt,
): void {
  // What a node took that never acknowledges, it has.
  const acknowledges = nodes.profile(nodeId)?.supports.includes('job_ack') === true;
  const hasRun = timeline.some((entry) => entry.state === 'RUNNING' && entry.attempt === attempt);
  if (acknowledges && !hasRun) link.giveUp?.(nodeId, jobId, attempt);
}
