/** Hot path: what a node is handed of a flight. */
import type { NodeId } from '../../domain/ids.ts';
import type { Assignment } from '../../ports/node-link.ts';
import type { InFlightJob } from '../in-flight-job.ts';

export function assign(
  { job, audioAt }: InFlightJob,
  nodeId: NodeId,
  attempt: number,
  expiresAt: number,
): Assignment {
  // Most audio is held here, and most assignments need not say where it is.
  return typeof audioAt === 'object'
    ? { nodeId, attempt, job, expiresAt, audioAt }
    : { nodeId, attempt, job, expiresAt };
}
