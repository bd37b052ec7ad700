/** Cold path: the spans of a settled job, read from its timeline. Pure. */
import type { JobRecord, TimelineEntry } from '../../domain/job.ts';
import { known, NO_EVENTS, type SpanDraft } from './span-draft.ts';
import { spanIdOf, traceIdOf } from './trace-ids.ts';
import { utteranceSpanId } from './utterance-spans.ts';

/** Ids, times and codes only: no text of the conversation and no audio (the law of Tracer). */
export function jobSpans(job: JobRecord): readonly SpanDraft[] {
  const { jobId, timeline, createdAt } = job;
  const { utteranceIndex, traceId, groupId } = job.spec;
  const error = job.failure?.code;
  const numbers = new Set(timeline.map(({ attempt }) => attempt).filter((attempt) => attempt > 0));
  const frame: Frame = {
    jobId,
    traceId: traceIdOf(traceId),
    jobSpanId: spanIdOf('job', jobId),
    endAt: timeline.at(-1)?.at ?? createdAt,
  };
  // Only utterances of sessions are in a group. A job that came by HTTP has no parent span.
  const parentSpanId = groupId === undefined ? undefined : utteranceSpanId(job.sessionId, utteranceIndex);
  const attributes = known({
    'lingua.trace_id': traceId,
    'lingua.job_id': jobId,
    'lingua.tenant_id': job.tenantId,
    'lingua.session_id': job.sessionId,
    'lingua.utterance_index': utteranceIndex,
    'lingua.source_language': job.spec.sourceLanguage,
    'lingua.target_language': job.spec.targetLanguage,
    'lingua.attempts': Math.max(0, ...numbers),
    'lingua.outcome': error ?? 'finished',
  });
  return [
    { ...span(frame, 'job', frame.jobSpanId, parentSpanId, createdAt, frame.endAt), attributes, error },
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

/** One span for each time the job waited for a slot. A slot that is reserved at once makes no span. */
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
  const { startAt, reservedAt, sentAt, acknowledgedAt, end } = readAttempt(entries, frame.endAt);
  const endAt = end?.at ?? frame.endAt;
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
      error: end === undefined || end.state === 'FINISHED' ? undefined : (end.reason ?? end.state),
    },
  ];
  if (sentAt === undefined) return spans;
  spans.push(stage('send', reservedAt ?? sentAt, sentAt), stage('ack', sentAt, acknowledgedAt ?? endAt));
  if (acknowledgedAt !== undefined) spans.push(stage('run', acknowledgedAt, endAt));
  return spans;
}

interface Attempted {
  readonly startAt: number;
  readonly reservedAt: number | undefined;
  readonly sentAt: number | undefined;
  readonly acknowledgedAt: number | undefined;
  readonly end: TimelineEntry | undefined;
}

/** The node of an abandoned attempt may still report; the attempt then continues. */
function readAttempt(entries: readonly TimelineEntry[], jobEndAt: number): Attempted {
  let [reservedAt, sentAt, acknowledgedAt]: (number | undefined)[] = [];
  let end: TimelineEntry | undefined;
  for (const entry of entries) {
    if (entry.state === 'RETRYING' || entry.state === 'FINISHED' || entry.state === 'FAILED') {
      end ??= entry;
      continue;
    }
    end = undefined;
    if (entry.state === 'RESERVED') reservedAt = entry.at;
    else if (entry.state === 'DISPATCHED') sentAt = entry.at;
    else if (entry.state === 'RUNNING') acknowledgedAt ??= entry.at;
  }
  // A legacy node reports only the result: its work is counted from the dispatch.
  const isUnacknowledged = end?.state === 'FINISHED' && acknowledgedAt === end.at;
  return {
    startAt: entries[0]?.at ?? jobEndAt,
    reservedAt,
    sentAt,
    acknowledgedAt: isUnacknowledged ? sentAt : acknowledgedAt,
    end,
  };
}
