/** Cold path: what a node's list of its jobs proves about jobs that are not in it. Pure. */
import type { NodeProfile } from '../../domain/profile.ts';
import type { LoadReport } from '../../ports/capacity-ledger.ts';

/**
 * Over HTTP a job may reach the node after the node wrote a report that arrives later than the job. The limit is longer than a slow store
 * may delay a call, and shorter than the heartbeat interval, so the next report proves it. On a socket messages stay in order.
 */
const OVER_HTTP_MS = 2_000;

/**
 * The lease of a job is committed before the job is handed over. A report on a socket that arrives this much later was written after the
 * job arrived, because no call to the store takes so long.
 */
const TAKEN_MS = 5_000;

export function reportProof(
  isOverHttp: boolean,
  { supports }: NodeProfile,
): Pick<LoadReport, 'ageMs' | 'takenMs'> {
  // Over HTTP a report may have any age: instances may forward it, more than once.
  if (isOverHttp) return { ageMs: OVER_HTTP_MS };
  // A legacy node sends no acknowledgement: its lease shows that the job was sent, but the node may not have read it yet.
  return supports.includes('job_ack') ? { takenMs: TAKEN_MS } : {};
}
