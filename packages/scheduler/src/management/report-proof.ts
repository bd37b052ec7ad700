/** Cold path: what a node's list of its jobs proves of those it does not name. Pure. */
import type { NodeProfile } from '../domain/profile.ts';
import type { LoadReport } from '../ports/capacity-ledger.ts';
import type { ManagementSettings } from './settings.ts';

/**
 * Each call over HTTP has a way of its own: a job may reach the node after a report was written that is heard later than it. Longer
 * than a call may be held up by a slow store, and shorter than nodes beat: the next report is soon there. On a socket all is in order.
 */
const OVER_HTTP_MS = 2_000;

/**
 * The same for acknowledgements, which come to the ledger through whoever drives the job: one that made a lease last so long ago was
 * said before the report was written, however long that was on its way.
 */
const TAKEN_BEFORE_MS = 5_000;

export function reportProof(
  isOverHttp: boolean,
  { supports }: NodeProfile,
  { reservationMs, runningMs }: ManagementSettings['leases'],
): Pick<LoadReport, 'ageMs' | 'takenLeft'> {
  const ageMs = isOverHttp ? OVER_HTTP_MS : 0;
  // One that never acknowledges has what was sent to it, as far as leases know, and may not have read it yet.
  if (!supports.includes('job_ack')) return { ageMs };
  return { ageMs, takenLeft: { moreThanMs: reservationMs, atMostMs: runningMs - ageMs - TAKEN_BEFORE_MS } };
}
