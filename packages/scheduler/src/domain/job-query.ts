/** Vocabulary: how a job stands for its reader, and which jobs a list contains. Pure. */
import type { NodeId, SessionId, TenantId } from './ids.ts';
import { isSettled, type JobRecord, type JobState } from './job.ts';

export const JOB_OUTCOMES = ['waiting', 'running', 'finished', 'failed', 'cancelled'] as const;
export type JobOutcome = (typeof JOB_OUTCOMES)[number];

/** Codes of jobs that ended because their caller or their session wanted no result any more. */
const CANCELLATIONS: ReadonlySet<string> = new Set(['JOB_CANCELLED', 'SESSION_CLOSED']);

/** RESERVED counts as running: a stored record says so until the first report of a node that may work already. */
export function jobOutcome({ state, failure }: Pick<JobRecord, 'state' | 'failure'>): JobOutcome {
  if (!isSettled(state)) return state === 'CREATED' || state === 'RETRYING' ? 'waiting' : 'running';
  if (failure === undefined) return 'finished';
  return CANCELLATIONS.has(failure.code) ? 'cancelled' : 'failed';
}

/** Absent: any. */
export interface JobFilter {
  readonly tenantId?: TenantId;
  readonly state?: JobState;
  readonly outcome?: JobOutcome;
  /** Error code of a job that failed or was cancelled. */
  readonly reason?: string;
  /** The node that has or had it last. */
  readonly nodeId?: NodeId;
  readonly sessionId?: SessionId;
}

/** The part of a record that filters read. */
export type ListedJob = Pick<JobRecord, 'tenantId' | 'sessionId' | 'state' | 'failure' | 'fence' | 'intent'>;

export const isListed = (job: ListedJob, filter: JobFilter): boolean =>
  (filter.tenantId === undefined || job.tenantId === filter.tenantId) &&
  (filter.state === undefined || job.state === filter.state) &&
  (filter.outcome === undefined || jobOutcome(job) === filter.outcome) &&
  (filter.reason === undefined || job.failure?.code === filter.reason) &&
  (filter.nodeId === undefined || (job.fence ?? job.intent)?.nodeId === filter.nodeId) &&
  (filter.sessionId === undefined || job.sessionId === filter.sessionId);
