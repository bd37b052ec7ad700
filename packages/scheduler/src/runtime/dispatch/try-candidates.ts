/** Hot path: reserves a slot on one candidate after the other, until a node has the job. */
import type { Attempt } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import { advance, type Engine, releaseLease } from '../engine.ts';
import { type InFlightJob, isDropped, nextAttempt } from '../in-flight-job.ts';
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
  const latest = new WeakMap<InFlightJob, Search>();
  const reserves = new WeakMap<InFlightJob, Promise<unknown>>();

  const isLatest = (flight: InFlightJob, search: Search): boolean => latest.get(flight) === search;

  /** Reserves the slot and records the intent. */
  async function reserveAndRecord(
    flight: InFlightJob,
    search: Search,
    intent: Attempt,
    since: number,
  ): Promise<'reserved' | 'refused' | 'overtaken'> {
    const lease = leaseId(flight.job.jobId, intent.attempt);
    if (!(await reserve(intent.nodeId, lease, since, false))) return 'refused';
    const isRecorded =
      isLatest(flight, search) &&
      (await advance(engine, flight, 'reserved', { intent })) &&
      isLatest(flight, search);
    if (isRecorded) return 'reserved';
    // Another driver may have reserved the slot under the same lease id.
    if (!isDropped(flight)) await releaseLease(engine, intent.nodeId, lease);
    return 'overtaken';
  }

  return async function place(flight, selection): Promise<PlacementResult> {
    const search: Search = Symbol('search');
    latest.set(flight, search);
    // A failure of the earlier search is reported to its own caller.
    for (let earlier = reserves.get(flight); earlier !== undefined; earlier = reserves.get(flight))
      await earlier.catch(() => {});
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (flight.driving !== 'ours' || !isLatest(flight, search)) return 'overtaken';
      const since = engine.clock.precise();
      const nodeId = selection.next();
      if (nodeId === undefined) return 'no_node';
      const attempt = nextAttempt(flight);
      const reserving = reserveAndRecord(flight, search, { nodeId, attempt }, since);
      reserves.set(flight, reserving);
      const reserved = await reserving.finally(() => reserves.delete(flight));
      if (reserved === 'overtaken') return 'overtaken';
      if (reserved === 'refused') continue;
      const placed = await send(flight, nodeId, attempt);
      if (placed !== 'no_node') return placed;
    }
    return 'no_node';
  };
}

/** One search for a node; the latest one of a job counts. */
type Search = symbol;
