/**
 * Cold path: sends traces by OTLP over HTTP. Only this folder imports OpenTelemetry, and it is loaded only when traces are on.
 * OpenTelemetry's batch processor queues and batches the spans; this file gives it finished spans and counts what it drops.
 */
import { type HrTime, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { Tracer } from '../../ports/tracer.ts';
import { jobSpans } from './job-spans.ts';
import type { SpanDraft } from './span-draft.ts';
import { isSampled, traceIdOf } from './trace-ids.ts';
import { utteranceSpans } from './utterance-spans.ts';

export interface TracerSettings {
  /** Address of the collector, in the form of OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  readonly sampleRatio: number;
  readonly serviceName: string;
  readonly version: string;
  readonly instanceId: string | undefined;
}

export interface RunningTracer extends Tracer {
  /** Sends the spans that are queued, for at most so long, and drops later ones. */
  stop(limitMs: number): Promise<void>;
}

/** In spans. The processor encodes one batch in one synchronous slice, so a batch is small (I6). */
export const SPAN_LIMITS = { maxQueued: 8_192, maxPerBatch: 256 } as const;

/** How long the first span of a batch waits for more. */
const BATCH_DELAY_MS = 500;
/** The limit for a request and all its retries; after it the spans are dropped. */
const SEND_TIMEOUT_MS = 5_000;
const SUCCESS = 0;

export function createTracer(deps: {
  clock: Clock;
  meter: Meter;
  log: Log;
  settings: TracerSettings;
  /** For tests: where the batches go instead of to a collector. */
  exporter?: SpanExporter;
}): RunningTracer {
  const { clock, meter, log, settings } = deps;
  const { maxQueued, maxPerBatch } = SPAN_LIMITS;
  const exporter = deps.exporter ?? createExporter(settings.endpoint);
  let queued = 0;
  let inProgress = 0;
  let isFailing = false;
  let isStopping = false;
  let isStopped = false;
  const drop = (spans: number, reason: string): void => {
    if (spans > 0) meter.count('scheduler_trace_spans_dropped_total', { reason }, spans);
  };

  function exported(spans: number, isSuccess: boolean): void {
    // `stop` has counted them already.
    if (isStopped) return;
    inProgress -= spans;
    if (isSuccess) meter.count('scheduler_trace_spans_exported_total', undefined, spans);
    else drop(spans, 'not_sent');
    if (!isSuccess && !isFailing)
      log.warn({}, 'the collector at scheduler.observability.otlp_endpoint does not accept spans');
    if (isSuccess && isFailing) log.info({}, 'the collector accepts spans again');
    isFailing = !isSuccess;
  }

  const processor = new BatchSpanProcessor({
    exporter: {
      export(spans, done) {
        queued -= spans.length;
        inProgress += spans.length;
        exporter.export(spans, (result) => {
          exported(spans.length, result.code === SUCCESS);
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
    },
    maxQueueSize: maxQueued,
    maxExportBatchSize: maxPerBatch,
    scheduledDelayMillis: BATCH_DELAY_MS,
    // A little later than the exporter's own limit, which reports the result.
    exportTimeoutMillis: SEND_TIMEOUT_MS + 1_000,
  });

  const toSpan = spanMaker(settings);
  /** The processor drops spans silently when its queue is full, so the queue's length is checked and counted here. */
  function add(drafts: readonly SpanDraft[]): void {
    if (isStopping) {
      drop(drafts.length, 'stopping');
      return;
    }
    const accepted = drafts.slice(0, Math.max(0, maxQueued - queued));
    drop(drafts.length - accepted.length, 'queue_full');
    for (const draft of accepted) {
      queued += 1;
      processor.onEnd(toSpan(draft));
    }
  }

  const isWanted = (traceId: string): boolean =>
    settings.sampleRatio >= 1 || isSampled(traceIdOf(traceId), settings.sampleRatio);

  return {
    jobSettled(job) {
      if (isWanted(job.spec.traceId)) add(jobSpans(job));
    },
    utteranceEnded(utterance) {
      if (isWanted(utterance.traceId)) add(utteranceSpans(utterance));
    },
    async stop(limitMs) {
      isStopping = true;
      // It rejects when a batch failed, which is counted, or at the limit.
      await withTimeout(clock, limitMs, 'the trace collector', () => processor.shutdown()).catch(
        () => undefined,
      );
      drop(queued + inProgress, 'stopping');
      isStopped = true;
    },
  };
}

function createExporter(endpoint: string): SpanExporter {
  const { maxQueued, maxPerBatch } = SPAN_LIMITS;
  return new OTLPTraceExporter({
    url: tracesUrl(endpoint),
    timeoutMillis: SEND_TIMEOUT_MS,
    // At shutdown the processor exports the whole queue at once, beside the batch that is in progress.
    concurrencyLimit: maxQueued / maxPerBatch + 1,
  });
}

export function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  if (!url.pathname.endsWith('/v1/traces')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

function spanMaker({ serviceName, version, instanceId }: TracerSettings): (draft: SpanDraft) => ReadableSpan {
  const resource = resourceFromAttributes({
    'service.name': serviceName,
    'service.version': version,
    ...(instanceId !== undefined && { 'service.instance.id': instanceId }),
  });
  const instrumentationScope = { name: 'lingua-scheduler', version };
  return (draft) => {
    const { traceId, spanId, parentSpanId, startAt, endAt, error } = draft;
    const traceFlags = TraceFlags.SAMPLED;
    return {
      name: draft.name,
      kind: KINDS[draft.kind],
      spanContext: () => ({ traceId, spanId, traceFlags }),
      ...(parentSpanId !== undefined && { parentSpanContext: { traceId, spanId: parentSpanId, traceFlags } }),
      startTime: hrTime(startAt),
      endTime: hrTime(endAt),
      duration: hrTime(endAt - startAt),
      status:
        error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
      attributes: draft.attributes,
      events: draft.events.map(({ name, at, attributes }) => ({ name, time: hrTime(at), attributes })),
      links: [],
      ended: true,
      resource,
      instrumentationScope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  };
}

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000];
