/** Hot path: what a move changes in a job record, and the record after it. Pure; every store applies it in the same way. */
import type { Attempt, JobRecord, JobState, TimelineEntry } from './job.ts';
import type { JobResult } from './job-spec.ts';
import type { JobUsage } from './usage.ts';

/** Absent fields stay as they are; `intent: null` clears it. */
export interface JobChange {
  readonly state: JobState;
  readonly fence?: Attempt | undefined;
  readonly intent?: Attempt | null | undefined;
  readonly entry: TimelineEntry;
  /** States that the move passes through, recorded before `entry`. */
  readonly passing?: readonly TimelineEntry[] | undefined;
  readonly failure?: { readonly code: string; readonly message: string } | undefined;
  readonly result?: JobResult | undefined;
  readonly usage?: JobUsage | undefined;
}

export const MAX_TIMELINE = 32;

/** How many entries a move adds to the timeline. */
export const entriesOf = ({ passing }: JobChange): number => 1 + (passing?.length ?? 0);

/** Written field by field: this runs several times per job, and an object spread costs several times as much. */
export function changeJob(record: JobRecord, change: JobChange): JobRecord {
  return {
    jobId: record.jobId,
    tenantId: record.tenantId,
    sessionId: record.sessionId,
    requestId: record.requestId,
    fingerprint: record.fingerprint,
    spec: record.spec,
    need: record.need,
    state: change.state,
    fence: change.fence ?? record.fence,
    intent: change.intent === undefined ? record.intent : (change.intent ?? undefined),
    audioMs: record.audioMs,
    createdAt: record.createdAt,
    deadlineAt: record.deadlineAt,
    timeline: withEntries(record.timeline, change),
    failure: change.failure ?? record.failure,
    result: change.result ?? record.result,
    usage: change.usage ?? record.usage,
  };
}

/** The beginning and the end of a job matter most, so the middle is dropped first. */
function withEntries(timeline: readonly TimelineEntry[], { passing, entry }: JobChange): TimelineEntry[] {
  // Written by hand: concat takes several times as long, and a spread allocates room for sixteen more entries in every job.
  const { length } = timeline;
  const passed = passing === undefined ? 0 : passing.length;
  const longer = new Array<TimelineEntry>(length + passed + 1);
  for (let at = 0; at < length; at++) longer[at] = timeline[at] as TimelineEntry;
  for (let at = 0; at < passed; at++) longer[length + at] = passing?.[at] as TimelineEntry;
  longer[longer.length - 1] = entry;
  if (longer.length > MAX_TIMELINE) longer.splice(MAX_TIMELINE / 2, longer.length - MAX_TIMELINE);
  return longer;
}
