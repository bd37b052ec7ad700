/** Failure path: the earlier attempts of a job, read from its record. Pure. */
import { meaningOf } from '../../domain/failure.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { JobRecord, JobState, TimelineEntry } from '../../domain/job.ts';
import { ANY_ATTEMPT, type ReportedAttempt } from '../../domain/node-report.ts';
import type { InFlightJob } from '../in-flight-job.ts';
import { NO_SLOT } from '../queue/waiting.ts';

export type AttemptHistory = Pick<
  InFlightJob,
  'attempts' | 'retries' | 'nodesLost' | 'abandonedAttempt' | 'lastFailure'
> & {
  readonly sentTo: readonly NodeId[];
};

/** Reason in the timeline of an attempt that its node never got: it is not a retry, and the node is not excluded. */
export const UNDELIVERABLE = 'UNDELIVERABLE';

export function attemptHistoryOf(job: JobRecord): AttemptHistory {
  const { timeline, fence, intent, state } = job;
  const abandonedAttempt = timeline.filter(isAbandonedEntry);
  const reasons = abandonedAttempt.map(({ reason = '' }) => reason);
  return {
    attempts: Math.max(fence?.attempt ?? 0, intent?.attempt ?? 0, ...timeline.map(({ attempt }) => attempt)),
    sentTo: sentTo(job),
    retries: reasons.filter((code) => code !== UNDELIVERABLE && meaningOf({ code, message: '' }).isCounted)
      .length,
    nodesLost: reasons.filter((code) => code === 'WS_DISCONNECTED').length,
    abandonedAttempt: state === 'RETRYING' || state === 'RESERVED' ? (fence?.attempt ?? 0) : 0,
    lastFailure: failureOf(abandonedAttempt.at(-1)),
  };
}

/** A try without a slot is not a failed attempt. */
const isAbandonedEntry = ({ state, reason }: TimelineEntry): boolean =>
  state === 'RETRYING' && reason !== NO_SLOT;

function failureOf(entry: TimelineEntry | undefined): AttemptHistory['lastFailure'] {
  if (entry?.reason === undefined) return undefined;
  const code = entry.reason === UNDELIVERABLE ? 'NODE_UNAVAILABLE' : entry.reason;
  return { code, message: `an attempt ended with ${entry.reason}` };
}

/** Every node that has, had or may have the job. */
function sentTo({ timeline, fence, intent }: JobRecord): readonly NodeId[] {
  const undelivered = new Set(
    timeline.filter(({ reason }) => reason === UNDELIVERABLE).map(({ attempt }) => attempt),
  );
  const nodes = new Set<NodeId | undefined>();
  if (fence !== undefined && !undelivered.has(fence.attempt)) nodes.add(fence.nodeId);
  nodes.add(intent?.nodeId);
  const reserved = timeline.filter(({ state, attempt }) => state === 'RESERVED' && !undelivered.has(attempt));
  for (const [index, { nodeId, attempt }] of reserved.entries()) {
    // An attempt number is used again only if the previous node certainly never gets the job.
    if (reserved[index + 1]?.attempt !== attempt) nodes.add(nodeId);
  }
  for (const { state, nodeId, attempt } of timeline)
    if (state === 'DISPATCHED' && !undelivered.has(attempt)) nodes.add(nodeId);
  return [...nodes].filter((nodeId) => nodeId !== undefined);
}

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
