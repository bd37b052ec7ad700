/** Cold path: the root span of an utterance's trace, and the span of its delivery. Pure. */
import type { TracedUtterance } from '../../ports/tracer.ts';
import { known, NO_EVENTS, type SpanDraft } from './span-draft.ts';
import { spanIdOf, traceIdOf } from './trace-ids.ts';

export const utteranceSpanId = (sessionId: string, index: number): string =>
  spanIdOf('utterance', sessionId, index);

/** These outcomes are no errors of the scheduler: they depend on what the speaker and the client do. */
const NO_ERROR: ReadonlySet<string> = new Set(['result', 'silence_detected', 'unheard']);

export function utteranceSpans(utterance: TracedUtterance): readonly SpanDraft[] {
  const { sessionId, index, outcome, endedAt, readyAt } = utterance;
  const traceId = traceIdOf(utterance.traceId);
  const spanId = utteranceSpanId(sessionId, index);
  const error = NO_ERROR.has(outcome) ? undefined : outcome;
  const root: SpanDraft = {
    name: 'utterance',
    kind: 'server',
    traceId,
    spanId,
    parentSpanId: undefined,
    startAt: utterance.startedAt,
    endAt: endedAt,
    attributes: known({
      'lingua.trace_id': utterance.traceId,
      'lingua.tenant_id': utterance.tenantId,
      'lingua.session_id': sessionId,
      'lingua.utterance_index': index,
      'lingua.job_id': utterance.jobId,
      'lingua.outcome': outcome,
    }),
    events: [{ name: 'accepted', at: utterance.acceptedAt, attributes: {} }],
    error,
  };
  if (readyAt === undefined) return [root];
  const deliver: SpanDraft = {
    name: 'deliver',
    kind: 'internal',
    traceId,
    spanId: spanIdOf('deliver', sessionId, index),
    parentSpanId: spanId,
    startAt: readyAt,
    endAt: endedAt,
    attributes: known({ 'lingua.outcome': outcome, 'lingua.delivery_seq': utterance.deliverySeq }),
    events: NO_EVENTS,
    error: undefined,
  };
  return [root, deliver];
}
