/** The parent span of a node's own spans in the trace of a job. */
import { createHash } from 'node:crypto';
import type { JobAssign } from '@lingua/protocol';

export interface TraceContext {
  /** In the format of OpenTelemetry: 32 hexadecimal digits. */
  readonly traceId: string;
  /** The span of this attempt. */
  readonly parentSpanId: string;
  /** Both, as a W3C header. */
  readonly traceparent: string;
}

const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/i;

/** The scheduler exports spans only if `scheduler.observability.otlp_endpoint` is set; the ids are the same either way. */
export function traceContext(job: Pick<JobAssign, 'trace_id' | 'job_id' | 'attempt_id'>): TraceContext {
  const { trace_id, job_id, attempt_id } = job;
  const traceId = TRACE_ID.test(trace_id) ? trace_id.toLowerCase() : digest(trace_id, 32);
  const parentSpanId = digest(`attempt ${job_id} ${attempt_id}`, 16);
  return { traceId, parentSpanId, traceparent: `00-${traceId}-${parentSpanId}-01` };
}

const digest = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);
