/** Cold path: the spans of a settled job, read from its timeline. Pure. */
import type { JobRecord, TimelineEntry } from '../../domain/job.ts';
import { known, NO_EVENTS, type SpanDraft } from './span-draft.ts';
import { spanIdOf, traceIdOf } from './trace-ids.ts';
import { utteranceSpanId } from './utterance-spans.ts';

/** What is kept of a job until its spans are made: nothing that was said, and none of its audio. */
export interface TracedJob {
  readonly jobId: string;
  readonly traceId: string;
  readonly attributes: SpanDraft['attributes'];
  readonly parentSpanId: string | undefined;
  readonly createdAt: number;
  readonly timeline: readonly TimelineEntry[];
  readonly failure: string | undefined;
}

export function tracedJob({ jobId, tenantId, sessionId, spec, ...job }: JobRecord): TracedJob {
  const { utteranceIndex, traceId, groupId } = spec;
  return {
    jobId,
    traceId,
    // Only utterances of sessions are in a group. A job by HTTP has nobody above it who would tell of himself.
    parentSpanId: groupId === undefined ? undefined : utteranceSpanId(sessionId, utteranceIndex),
    createdAt: job.createdAt,
    timeline: job.timeline,
    failure: job.failure?.code,
    attributes: known({
      'lingua.trace_id': traceId,
      'lingua.job_id': jobId,
      'lingua.tenant_id': tenantId,
      'lingua.session_id': sessionId,
      'lingua.utterance_index': utteranceIndex,
      'lingua.source_language': spec.sourceLanguage,
      'lingua.target_language': spec.targetLanguage,
      'lingua.attempts': Math.max(0, ...job.timeline.map(({ attempt }) => attempt)),
      'lingua.outcome': job.failure?.code ?? 'finished',
    }),
  };
}

export function jobSpans(job: TracedJob): readonly SpanDraft[] {
  const { jobId, timeline } = job;
  const frame: Frame = {
    jobId,
    traceId: traceIdOf(job.traceId),
    jobSpanId: spanIdOf('job', jobId),
    endAt: timeline.at(-1)?.at ?? job.createdAt,
  };
  const numbers = new Set(timeline.map(({ attempt }) => attempt).filter((attempt) => attempt > 0));
  const root = span(frame, 'job', frame.jobSpanId, job.parentSpanId, job.createdAt, frame.endAt);
  return [
    { ...root, attributes: job.attributes, error: job.failure },
    ...waits(frame, timeline),
    ...[...numbers].flatMap((attempt) =>
      attemptSpans(
        frame,
        attempt,
        timeline.filter((entry) => entry.attempt === attempt),
      ),
    ),
  ];
}

interface Frame {
  readonly jobId: string;
  readonly traceId: string;
  readonly jobSpanId: string;
  readonly endAt: number;
}

function span(
  { traceId }: Frame,
  name: string,
  spanId: string,
  parentSpanId: string | undefined,
  startAt: number,
  endAt: number,
): SpanDraft {
  return {
    name,
    kind: 'internal',
    traceId,
    spanId,
    parentSpanId,
    startAt,
    endAt,
    attributes: {},
    events: NO_EVENTS,
    error: undefined,
  };
}

/** Every time until a node was chosen and its slot taken; a slot that is had at once is no wait. */
function waits(frame: Frame, timeline: readonly TimelineEntry[]): readonly SpanDraft[] {
  const found: SpanDraft[] = [];
  const wait = (startAt: number, endAt: number): void => {
    const spanId = spanIdOf('wait', frame.jobId, found.length + 1);
    if (endAt > startAt) found.push(span(frame, 'wait', spanId, frame.jobSpanId, startAt, endAt));
  };
  let since: number | undefined;
  for (const { state, at } of timeline) {
    if (state === 'CREATED' || state === 'RETRYING') since ??= at;
    else if (since !== undefined) {
      wait(since, at);
      since = undefined;
    }
  }
  return found;
}

function attemptSpans(
  frame: Frame,
  attempt: number,
  entries: readonly TimelineEntry[],
): readonly SpanDraft[] {
  const { startAt, reservedAt, sentAt, heardAt, over } = readAttempt(entries, frame.endAt);
  const endAt = over?.at ?? frame.endAt;
  const spanId = spanIdOf('attempt', frame.jobId, attempt);
  const nodeId = entries.findLast((entry) => entry.nodeId !== undefined)?.nodeId;
  const stage = (name: string, from: number, to: number): SpanDraft =>
    span(frame, name, spanIdOf(name, frame.jobId, attempt), spanId, from, to);
  const spans: SpanDraft[] = [
    {
      ...span(frame, 'attempt', spanId, frame.jobSpanId, startAt, endAt),
      kind: 'client',
      attributes: known({ 'lingua.attempt_id': attempt, 'lingua.node_id': nodeId }),
      events: entries.map(({ state, at, nodeId: node, reason }) => ({
        name: state.toLowerCase(),
        at,
        attributes: known({ 'lingua.node_id': node, 'lingua.reason': reason }),
      })),
      error: over === undefined || over.state === 'FINISHED' ? undefined : (over.reason ?? over.state),
    },
  ];
  if (sentAt === undefined) return spans;
  spans.push(stage('send', reservedAt ?? sentAt, sentAt), stage('ack', sentAt, heardAt ?? endAt));
  if (heardAt !== undefined) spans.push(stage('run', heardAt, endAt));
  return spans;
}

interface Attempted {
  readonly startAt: number;
  readonly reservedAt: number | undefined;
  readonly sentAt: number | undefined;
  readonly heardAt: number | undefined;
  readonly over: TimelineEntry | undefined;
}

/** An attempt that was given up may answer after all, and then it is not over. */
function readAttempt(entries: readonly TimelineEntry[], jobEndAt: number): Attempted {
  let [reservedAt, sentAt, heardAt]: (number | undefined)[] = [];
  let over: TimelineEntry | undefined;
  for (const entry of entries) {
    if (entry.state === 'RETRYING' || entry.state === 'FINISHED' || entry.state === 'FAILED') {
      over ??= entry;
      continue;
    }
    over = undefined;
    if (entry.state === 'RESERVED') reservedAt = entry.at;
    else if (entry.state === 'DISPATCHED') sentAt = entry.at;
    else if (entry.state === 'RUNNING') heardAt ??= entry.at;
  }
  // Its answer was all that was heard: the node works from the moment it has the job.
  const isUnacknowledged = over?.state === 'FINISHED' && heardAt === over.at;
  return {
    startAt: entries[0]?.at ?? jobEndAt,
    reservedAt,
    sentAt,
    heardAt: isUnacknowledged ? sentAt : heardAt,
    over,
  };
}
