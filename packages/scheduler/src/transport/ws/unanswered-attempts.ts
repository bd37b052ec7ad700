/** Hot path: the attempts that were handed to one node connection and have no result yet, and how often its heartbeats omitted them. */
import type { JobAssign, NodeHeartbeat } from '@lingua/protocol';
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { JobId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';

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
/**
 * Least time from the hand-over to the first omission, and between omissions. A process that was frozen reads several
 * heartbeats at once, and the node may have sent them all before it received the job.
 */
const APART_MS = 1_000;
/** More than the slots of a node. An attempt that was evicted is in work until its timeout. */
const MAX_REMEMBERED = 1_024;

interface Entry {
  readonly attempt: number;
  omissions: number;
  /** Time of the hand-over, then of the last omission. */
  at: number;
}

export function createUnansweredAttempts({ clock }: { clock: Clock }): UnansweredAttempts {
  const attempts = createBoundedMap<JobId, Entry>({ max: MAX_REMEMBERED });

  function omitted(entry: Entry, now: number): void {
    if (now - entry.at < APART_MS) return;
    entry.omissions += 1;
    entry.at = now;
  }

  return {
    handedOver: ({ job_id, attempt_id }) =>
      attempts.set(job_id, { attempt: attempt_id, omissions: 0, at: clock.now() }),
    answered: (jobId) => void attempts.delete(jobId),
    heartbeat(message, isLegacy) {
      const counts = countedBy(message, isLegacy);
      const ended: UnansweredAttempt[] = [];
      for (const [jobId, entry] of attempts.entries()) {
        if (counts(jobId)) entry.omissions = 0;
        else omitted(entry, clock.now());
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
