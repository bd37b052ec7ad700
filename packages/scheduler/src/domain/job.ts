/** Vocabulary: a job, the table of its states, and the fence that decides who may move it. */
import type { JobId, NodeId, SessionId, TenantId } from './ids.ts';
import type { JobResult, JobSpec } from './job-spec.ts';
import type { Need } from './need.ts';
import type { JobUsage } from './usage.ts';

export const JOB_STATES = [
  'CREATED',
  'RESERVED',
  'DISPATCHED',
  'RUNNING',
  'RETRYING',
  'FINISHED',
  'FAILED',
  'RELEASED',
] as const;
export type JobState = (typeof JOB_STATES)[number];

export const JOB_EVENTS = [
  'reserved',
  'unplaced',
  'dispatched',
  'acknowledged',
  'hedged',
  'gave_up',
  'finished',
  'failed',
  'released',
] as const;
export type JobEvent = (typeof JOB_EVENTS)[number];

/**
 * The next state for each event; an absent entry means that the event is not allowed. RESERVED → RESERVED: the next candidate of the same
 * attempt. RETRYING or RESERVED → RUNNING: the previous attempt still reports, which is accepted until the next attempt is dispatched.
 * RUNNING → RUNNING: a hedge begins, ends without a result, or becomes the fence.
 */
export const JOB_NEXT: Readonly<Record<JobState, Partial<Record<JobEvent, JobState>>>> = {
  CREATED: { reserved: 'RESERVED', failed: 'FAILED' },
  RESERVED: {
    reserved: 'RESERVED',
    unplaced: 'CREATED',
    dispatched: 'DISPATCHED',
    acknowledged: 'RUNNING',
    gave_up: 'RETRYING',
    failed: 'FAILED',
  },
  DISPATCHED: { acknowledged: 'RUNNING', gave_up: 'RETRYING', failed: 'FAILED' },
  RUNNING: { hedged: 'RUNNING', finished: 'FINISHED', gave_up: 'RETRYING', failed: 'FAILED' },
  RETRYING: { reserved: 'RESERVED', acknowledged: 'RUNNING', failed: 'FAILED' },
  FINISHED: { released: 'RELEASED' },
  FAILED: { released: 'RELEASED' },
  RELEASED: {},
};

export const nextState = (state: JobState, event: JobEvent): JobState | undefined => JOB_NEXT[state][event];

/** No further attempt follows; only the slot is still to be released. */
export const isSettled = (state: JobState): boolean =>
  state === 'FINISHED' || state === 'FAILED' || state === 'RELEASED';

/** The last move of this record brought the outcome. A result and the release of its slot are written as one move. */
export const isOutcome = ({ state, timeline }: Pick<JobRecord, 'state' | 'timeline'>): boolean => {
  if (state !== 'RELEASED') return isSettled(state);
  const [before, last] = timeline.slice(-2);
  return before?.state === 'FINISHED' && before.at === last?.at && last.reason === undefined;
};

/** An attempt was sent, and has neither ended nor been abandoned. Its node may not have it yet. */
export const isOut = ({ state }: Pick<JobRecord, 'state'>): boolean =>
  state === 'DISPATCHED' || state === 'RUNNING';

/** One try on one node. The dispatched one is the fence: only it can move the job. */
export interface Attempt {
  readonly nodeId: NodeId;
  readonly attempt: number;
}

export interface TimelineEntry {
  readonly state: JobState;
  readonly at: number;
  readonly attempt: number;
  readonly nodeId?: NodeId | undefined;
  readonly reason?: string | undefined;
}

export interface JobRecord {
  readonly jobId: JobId;
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly requestId?: string | undefined;
  /** Digest of the body, so that one request_id cannot mean two things. */
  readonly fingerprint?: string | undefined;
  readonly spec: JobSpec;
  /** What the job needs of a node, for the search of another one. Records of settled jobs may lack it. */
  readonly need?: Need | undefined;
  readonly state: JobState;
  /** The dispatched attempt; absent before the first dispatch. */
  readonly fence?: Attempt | undefined;
  /** The attempt that is reserved. In a stored record it may have been sent already: DISPATCHED is written with the first report. */
  readonly intent?: Attempt | undefined;
  /** Length of the audio that was sent with the request; absent: unknown. */
  readonly audioMs?: number | undefined;
  readonly createdAt: number;
  readonly deadlineAt: number;
  /** Oldest first; bounded, the middle is dropped first. */
  readonly timeline: readonly TimelineEntry[];
  /** Error code of a FAILED job. */
  readonly failure?: { readonly code: string; readonly message: string } | undefined;
  readonly result?: JobResult | undefined;
  /** What the result has used; absent: no result was accepted. */
  readonly usage?: JobUsage | undefined;
}

export const holdsFence = (job: Pick<JobRecord, 'fence'>, nodeId: NodeId, attempt: number): boolean =>
  job.fence !== undefined && job.fence.nodeId === nodeId && job.fence.attempt === attempt;

/** A second attempt beside the one that holds the fence: the result that is accepted first counts. */
export const hedgeOf = (job: Pick<JobRecord, 'state' | 'intent'>): Attempt | undefined =>
  isOut(job) ? job.intent : undefined;

export const isMeantFor = ({ intent }: Pick<JobRecord, 'intent'>, nodeId: NodeId, attempt: number): boolean =>
  intent !== undefined && intent.nodeId === nodeId && intent.attempt === attempt;
