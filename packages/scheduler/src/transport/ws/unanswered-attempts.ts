/** Hot path: the attempts that were handed to one node connection and have no result yet, and how often its heartbeats omitted them. */
import type { JobAssign, NodeHeartbeat } from '@lingua/protocol';
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { JobId } from '../../domain/ids.ts';

export interface UnansweredAttempt {
  readonly jobId: JobId;
  readonly attempt: number;
}

export interface UnansweredAttempts {
  handedOver(message: JobAssign): void;
  answered(jobId: JobId): void;
  /** The attempts that the node ended without a result, by this heartbeat and the one before. They are forgotten. */
  heartbeat(message: NodeHeartbeat, isLegacy: boolean): readonly UnansweredAttempt[];
}

/** The node may have sent the first heartbeat before it received the job. */
const OMISSIONS = 2;
/** More than the slots of a node. An attempt that was evicted is in work until its timeout. */
const MAX_REMEMBERED = 1_024;

export function createUnansweredAttempts(): UnansweredAttempts {
  const attempts = createBoundedMap<JobId, { readonly attempt: number; omissions: number }>({
    max: MAX_REMEMBERED,
  });
  return {
    handedOver: ({ job_id, attempt_id }) => attempts.set(job_id, { attempt: attempt_id, omissions: 0 }),
    answered: (jobId) => void attempts.delete(jobId),
    heartbeat(message, isLegacy) {
      const counts = countedBy(message, isLegacy);
      const ended: UnansweredAttempt[] = [];
      for (const [jobId, entry] of attempts.entries()) {
        entry.omissions = counts(jobId) ? 0 : entry.omissions + 1;
        if (entry.omissions === OMISSIONS) ended.push({ jobId, attempt: entry.attempt });
      }
      for (const { jobId } of ended) attempts.delete(jobId);
      return ended;
    },
  };
}

/** A legacy node reports only a number: above 0, each of its jobs may be the one it counts. */
function countedBy(
  { running_job_ids: ids, resource_usage }: NodeHeartbeat,
  isLegacy: boolean,
): (jobId: JobId) => boolean {
  if (ids !== undefined) {
    const named = new Set(ids);
    return (jobId) => named.has(jobId);
  }
  const isCounted = !isLegacy || resource_usage.running_jobs > 0;
  return () => isCounted;
}
