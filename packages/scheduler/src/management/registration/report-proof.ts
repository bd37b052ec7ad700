/** Cold path: what a node's list of its jobs proves of those it does not name. Pure. */
import type { NodeProfile } from '../../domain/profile.ts';
import type { LoadReport } from '../../ports/capacity-ledger.ts';

/**
 * Each call over HTTP has a way of its own: a job may reach the node after a report was written that is heard later than it. Longer
 * than a call may be held up by a slow store, and shorter than nodes beat: the next report is soon there. On a socket all is in order.
 */
const OVER_HTTP_MS = 2_000;

/**
 * An acknowledgement comes to the ledger through whoever drives the job. On a socket it was said before any report that is heard so much later:
 * no call to the store is held up as long.
 */
const TAKEN_MS = 5_000;

export function reportProof(
  isOverHttp: boolean,
  { supports }: NodeProfile,
): Pick<LoadReport, 'ageMs' | 'takenMs'> {
  // Over HTTP a report may be older than any limit: it can be passed on from one instance to another, more than once.
  if (isOverHttp) return { ageMs: OVER_HTTP_MS };
  // One that never acknowledges has what was sent to it, as far as leases know, and may not have read it yet.
  return supports.includes('job_ack') ? { takenMs: TAKEN_MS } : {};
}
