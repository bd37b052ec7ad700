/** Vocabulary: a lease is one slot of one node, held for one attempt of one job. */
import type { JobId } from './ids.ts';

export type LeaseId = string;

export const leaseId = (jobId: JobId, attempt: number): LeaseId => `${jobId}:${attempt}`;

export function leaseJob(lease: LeaseId): JobId {
  return lease.slice(0, lease.lastIndexOf(':'));
}

export interface Load {
  /** max(live leases, jobs the node reported − leases released since): what counts against `max`. */
  readonly used: number;
  readonly max: number;
}
