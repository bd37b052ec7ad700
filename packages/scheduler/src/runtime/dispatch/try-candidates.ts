/** Hot path: reserves a slot on one candidate after the other, until a node has the job. */
import type { Attempt } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import { advance, type Engine, releaseLease } from '../engine.ts';
import { type InFlightJob, isDropped } from '../in-flight-job.ts';
import type { Placement, PlacementResult } from './placement.ts';

/** Tries per search: after that the loads of these nodes are corrected, and waiting is better. */
const MAX_TRIES = 32;

/**
 * An abandoned attempt may be acknowledged late and then fail while another node is being searched: then two searches run. The
 * earlier one stops, and the later one waits until the earlier has released its slot, because both use the same attempt number
 * (I3).
 */
export function createTryCandidates(
  engine: Engine,
  { reserve, send }: Pick<Placement, 'reserve' | 'send'>,
): Placement['place'] {
  /** Reserves the slot and records the intent. */
  async function secure(
    flight: InFlightJob,
    intent: Attempt,
    since: number,
    search: number,
  ): Promise<'secured' | 'refused' | 'overtaken'> {
    const lease = leaseId(flight.job.jobId, intent.attempt);
    if (!(await reserve(intent.nodeId, lease, since, false))) return 'refused';
    const isSecured =
      flight.searches === search &&
      (await advance(engine, flight, 'reserved', { intent })) &&
      flight.searches === search;
    if (isSecured) return 'secured';
    // Another driver may have reserved the slot under the same lease id.
    if (!isDropped(flight)) await releaseLease(engine, intent.nodeId, lease);
    return 'overtaken';
  }

  return async function place(flight, selection): Promise<PlacementResult> {
    flight.searches += 1;
    const search = flight.searches;
    // A failure of the earlier search is reported to its own caller.
    while (flight.securing !== undefined) await flight.securing.catch(() => {});
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (flight.driving !== 'ours' || flight.searches !== search) return 'overtaken';
      const since = engine.clock.precise();
      const nodeId = selection.next();
      if (nodeId === undefined) return 'no_node';
      const attempt = flight.attempts + 1;
      const securing = secure(flight, { nodeId, attempt }, since, search);
      flight.securing = securing;
      const secured = await securing.finally(() => {
        flight.securing = undefined;
      });
      if (secured === 'overtaken') return 'overtaken';
      if (secured === 'refused') continue;
      const placed = await send(flight, nodeId, attempt);
      if (placed !== 'no_node') return placed;
    }
    return 'no_node';
  };
}
