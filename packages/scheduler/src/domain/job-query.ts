/** Vocabulary: how a job stands for its reader, and which jobs a list contains. Pure. */
import type { NodeId, SessionId, TenantId } from './ids.ts';
import { isSettled, type JobRecord, type JobState } from './job.ts';
import { callersIdOf } from './plan.ts';

export const JOB_OUTCOMES = ['waiting', 'running', 'finished', 'failed', 'cancelled'] as const;
export type JobOutcome = (typeof JOB_OUTCOMES)[number];

/** Codes of jobs that ended because their caller or their session wanted no result any more. */
const CANCELLATIONS: ReadonlySet<string> = new Set(['JOB_CANCELLED', 'SESSION_CLOSED']);

export const isCancellation = (code: string): boolean => CANCELLATIONS.has(code);

/** RESERVED counts as running: a stored record says so until the first report of a node that may work already. */
export function jobOutcome({ state, failure }: Pick<JobRecord, 'state' | 'failure'>): JobOutcome {
  if (!isSettled(state)) return state === 'CREATED' || state === 'RETRYING' ? 'waiting' : 'running';
  if (failure === undefined) return 'finished';
  return isCancellation(failure.code) ? 'cancelled' : 'failed';
}

/** Why it failed, was cancelled, or waits again. */
export const jobReason = ({ state, failure, timeline }: ReasonedJob): string | undefined =>
  isSettled(state) ? failure?.code : timeline?.at(-1)?.reason;

/** The timeline is read only until the job is settled. */
type ReasonedJob = Pick<JobRecord, 'state' | 'failure'> & Partial<Pick<JobRecord, 'timeline'>>;

/** Absent: any. */
export interface JobFilter {
  readonly tenantId?: TenantId;
  readonly state?: JobState;
  readonly outcome?: JobOutcome;
  /** As `jobReason` says. */
  readonly reason?: string;
  /** The node that has or had it last. */
  readonly nodeId?: NodeId;
  readonly sessionId?: SessionId;
  /** The beginning of one of its ids: job, request, trace, session, tenant or node. */
  readonly anyId?: string;
}

/** The part of a record that filters read. */
export type ListedJob = Pick<
  JobRecord,
  'jobId' | 'requestId' | 'tenantId' | 'sessionId' | 'fence' | 'intent'
> &
  ReasonedJob & { readonly spec: Pick<JobRecord['spec'], 'traceId'> };

export const isListed = (job: ListedJob, filter: JobFilter): boolean =>
  (filter.tenantId === undefined || job.tenantId === filter.tenantId) &&
  (filter.state === undefined || job.state === filter.state) &&
  (filter.outcome === undefined || jobOutcome(job) === filter.outcome) &&
  (filter.reason === undefined || jobReason(job) === filter.reason) &&
  (filter.nodeId === undefined || (job.fence ?? job.intent)?.nodeId === filter.nodeId) &&
  (filter.sessionId === undefined || job.sessionId === filter.sessionId) &&
  (filter.anyId === undefined || hasId(job, filter.anyId));

const hasId = (job: ListedJob, beginning: string): boolean =>
  [
    job.jobId,
    job.requestId,
    job.requestId && callersIdOf(job.requestId),
    job.spec.traceId,
    job.sessionId,
    job.tenantId,
    (job.fence ?? job.intent)?.nodeId,
  ].some((each) => each?.startsWith(beginning) === true);
