/** Failure path: the leases of attempts that do not count, or no longer. */
import type { NodeId } from '../../domain/ids.ts';
import { type Attempt, holdsFence } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import type { PlacementResult } from '../dispatch/placement.ts';
import { abandonLease, acknowledgesJobs, type Engine } from '../engine.ts';
import { hasReleased, type InFlightJob, isDropped, nodesOf, noteLeaseAbandoned } from '../in-flight-job.ts';
import { watchLeaseEnd } from './lease-expiry.ts';

/** `sent` if a report of the node made its attempt the fence meanwhile. */
export async function cancelOvertaken(
  engine: Engine,
  flight: InFlightJob,
  nodeId: NodeId,
  attempt: number,
): Promise<PlacementResult> {
  if (holdsFence(flight.job, nodeId, attempt)) return 'sent';
  // The attempt may go on under the instance that drives the job now.
  if (isDropped(flight)) return 'overtaken';
  // A cancel names the job only, so it would also stop a later attempt on the same node.
  const { fence, intent } = flight.job;
  if (fence?.nodeId !== nodeId && intent?.nodeId !== nodeId)
    engine.link.cancel(nodeId, flight.job.jobId, 'superseded');
  await abandonLeaseOf(engine, flight, { nodeId, attempt });
  watchLeaseEnd(engine, nodeId);
  return 'overtaken';
}

/** A new attempt counts from now on: the attempt before it, and unconfirmed ones, are stopped and their leases marked. */
export async function abandonPrevious(
  engine: Engine,
  flight: InFlightJob,
  nodeId: NodeId,
  before: Attempt | undefined,
): Promise<PlacementResult> {
  if (before !== undefined && !hasReleased(flight, before.attempt)) {
    engine.link.cancel(before.nodeId, flight.job.jobId, 'superseded');
    await abandonLeaseOf(engine, flight, before);
  }
  cancelUnconfirmed(engine, flight, before, nodeId);
  return 'sent';
}

/**
 * Cancels the job on nodes that were sent it after the attempt that counted last and that have not confirmed it: their reports do not
 * count any more. `now`: the node that has it now.
 */
export function cancelUnconfirmed(
  engine: Engine,
  flight: InFlightJob,
  counted: Attempt | undefined,
  now?: NodeId,
): void {
  const sent = nodesOf(flight.sentTo);
  const first = counted === undefined ? 0 : sent.indexOf(counted.nodeId) + 1;
  for (const nodeId of sent.slice(Math.max(first, flight.cancelsSent))) {
    if (nodeId === now) continue;
    engine.link.cancel(nodeId, flight.job.jobId, 'superseded');
    const attempt = flight.job.timeline.findLast((entry) => entry.nodeId === nodeId)?.attempt;
    if (attempt !== undefined) void abandonLeaseOf(engine, flight, { nodeId, attempt });
  }
  flight.cancelsSent = sent.length;
}

/**
 * Marks the lease of an attempt that the driver abandons while its node may have the job. A node that acknowledges jobs and did not
 * acknowledge this one has it only if its next heartbeat names it, so the lease ends soon after that heartbeat. The lease of a legacy
 * node is never shortened: such a node acknowledges nothing and names nothing.
 */
export function abandonLeaseOf(
  engine: Engine,
  flight: InFlightJob,
  { nodeId, attempt }: Attempt,
): Promise<void> {
  const { jobId, timeline } = flight.job;
  noteLeaseAbandoned(flight, attempt);
  const hasRun = timeline.some((entry) => entry.state === 'RUNNING' && entry.attempt === attempt);
  const endsInMs = acknowledgesJobs(engine, nodeId) && !hasRun ? engine.settings.abandonedLeaseMs : undefined;
  return abandonLease(engine, nodeId, leaseId(jobId, attempt), endsInMs);
}
