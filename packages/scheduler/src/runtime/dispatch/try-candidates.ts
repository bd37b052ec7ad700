/** Hot path: one node after the other is asked for a slot, until one has the job. */
import type { Attempt } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import { advance, type Engine, releaseLease } from '../engine.ts';
import { type InFlightJob, isDropped } from '../in-flight-job.ts';
import type { PlacementResult } from './placed.ts';
import type { Placement } from './placement.ts';

/** Tries per round; past that the views of those nodes have just been corrected, and waiting serves better. */
const MAX_TRIES = 32;

/**
 * A node that was given up may take the job up again while another is looked for, and fail it: then two rounds are under way. The
 * earlier one stops, and the later one waits until that has given back what it took: both would use the same number, for two nodes (I3).
 */
export function createTryCandidates(
  engine: Engine,
  { reserve, send }: Pick<Placement, 'reserve' | 'send'>,
): Placement['place'] {
  /** The slot, and the record that says so. */
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
    // Who drives it elsewhere may have taken the slot under the same name.
    if (!isDropped(flight)) await releaseLease(engine, intent.nodeId, lease);
    return 'overtaken';
  }

  return async function place(flight, selection): Promise<PlacementResult> {
    flight.searches += 1;
    const search = flight.searches;
    // What it came to is for the other one to say.
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
