/** Cold path: the spans of a settled job, read from its timeline. Pure. */
import type { JobRecord, TimelineEntry } from '../../domain/job.ts';
import { type AttemptStages, attemptsOf, waitsOf } from '../../domain/job-stages.ts';
import { known, NO_EVENTS, type SpanDraft } from './span-draft.ts';
import { spanIdOf, traceIdOf } from './trace-ids.ts';
import { utteranceSpanId } from './utterance-spans.ts';

/** Ids, times and codes only: no text of the conversation and no audio (the law of Tracer). */
export function jobSpans(job: JobRecord): readonly SpanDraft[] {
  const { jobId, timeline, createdAt } = job;
  const { utteranceIndex, traceId, groupId } = job.spec;
  const error = job.failure?.code;
  const attempts = attemptsOf(timeline);
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
    // Of a job that does some of the work for an utterance.
    'lingua.stages': job.spec.stages?.join('+'),
    'lingua.attempts': Math.max(0, ...attempts.map(({ attempt }) => attempt)),
    'lingua.outcome': error ?? 'finished',
  });
  return [
    { ...span(frame, 'job', frame.jobSpanId, parentSpanId, createdAt, frame.endAt), attributes, error },
    ...waits(frame, timeline),
    ...attempts.flatMap((attempt) => attemptSpans(frame, attempt)),
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

/** One span for each time the job waited for a slot. */
const waits = (frame: Frame, timeline: readonly TimelineEntry[]): readonly SpanDraft[] =>
  waitsOf(timeline).flatMap(({ from, to }, at) => {
    const spanId = spanIdOf('wait', frame.jobId, at + 1);
    return to === undefined ? [] : [span(frame, 'wait', spanId, frame.jobSpanId, from, to)];
  });

function attemptSpans(frame: Frame, stages: AttemptStages): readonly SpanDraft[] {
  const { attempt, entries, nodeId, startAt, reservedAt, sentAt, acknowledgedAt, end } = stages;
  const endAt = end?.at ?? frame.endAt;
  const spanId = spanIdOf('attempt', frame.jobId, attempt);
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
