/** Failure path: how late a report arrived. */

import type { JobRecord, JobState } from '../../domain/job.ts';
import { ANY_ATTEMPT, type ReportedAttempt } from '../../domain/node-report.ts';

const OVER: ReadonlySet<JobState> = new Set(['RETRYING', 'FINISHED', 'FAILED']);

/** When the attempt of a report ended. Undefined: by the record it was never dispatched. */
export function endOfAttempt(
  { timeline }: JobRecord,
  { nodeId, attempt }: ReportedAttempt,
): number | undefined {
  const sentAt = timeline.findLastIndex(
    (entry) =>
      entry.state === 'DISPATCHED' &&
      entry.nodeId === nodeId &&
      (attempt === ANY_ATTEMPT || entry.attempt === attempt),
  );
  return sentAt === -1 ? undefined : timeline.slice(sentAt).find(({ state }) => OVER.has(state))?.at;
}
