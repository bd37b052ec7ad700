/** Hot path: the assignment that a node gets. */
import type { NodeId } from '../../domain/ids.ts';
import type { Assignment } from '../../ports/node-link.ts';
import type { InFlightJob } from '../in-flight-job.ts';

export function assign(
  { job, audioAt }: InFlightJob,
  nodeId: NodeId,
  attempt: number,
  expiresAt: number,
): Assignment {
  // Most audio is held here, and most assignments need no address.
  return typeof audioAt === 'object'
    ? { nodeId, attempt, job, expiresAt, audioAt }
    : { nodeId, attempt, job, expiresAt };
}
