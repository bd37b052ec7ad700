/**
 * Cold path: traces by OTLP over HTTP. The only place that knows OpenTelemetry, and loaded only when traces are asked for. What is
 * done at once is a look at the trace's name and a few references kept; spans are made later.
 */
import { type HrTime, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { Tracer } from '../../ports/tracer.ts';
import { jobSpans, tracedJob } from './job-spans.ts';
import type { SpanDraft } from './span-draft.ts';
import { createSpanQueue } from './span-queue.ts';
import { isSampled, traceIdOf } from './trace-ids.ts';
import { utteranceSpans } from './utterance-spans.ts';

export interface TracerSettings {
  /** Of the collector, as OTEL_EXPORTER_OTLP_ENDPOINT has it. */
  readonly endpoint: string;
  readonly sampleRatio: number;
  readonly serviceName: string;
  readonly version: string;
  readonly instanceId: string | undefined;
}

export interface RunningTracer extends Tracer {
  stop(limitMs: number): Promise<void>;
}

type Span = Parameters<OTLPTraceExporter['export']>[0][number];

/** Also of what is tried again: what has not arrived by then is given up. */
const SEND_TIMEOUT_MS = 5_000;
const SUCCESS = 0;

export function createTracer(deps: {
  clock: Clock;
  meter: Meter;
  log: Log;
  settings: TracerSettings;
}): RunningTracer {
  const { settings } = deps;
  const exporter = new OTLPTraceExporter({
    url: tracesUrl(settings.endpoint),
    timeoutMillis: SEND_TIMEOUT_MS,
  });
  const dress = dresser(settings);
  const queue = createSpanQueue({
    ...deps,
    send: (drafts) =>
      new Promise((resolve) => {
        try {
          exporter.export(drafts.map(dress), ({ code }) => resolve(code === SUCCESS));
        } catch {
          resolve(false);
        }
      }),
  });
  const isWanted = (traceId: string): boolean =>
    settings.sampleRatio >= 1 || isSampled(traceIdOf(traceId), settings.sampleRatio);

  return {
    jobSettled(job) {
      if (!isWanted(job.spec.traceId)) return;
      const traced = tracedJob(job);
      queue.add(() => jobSpans(traced));
    },
    utteranceEnded(utterance) {
      if (isWanted(utterance.traceId)) queue.add(() => utteranceSpans(utterance));
    },
    async stop(limitMs) {
      await queue.stop(limitMs);
      // What is still under way ends with its own timeout; nobody waits for it.
      void exporter.shutdown().catch(() => undefined);
    },
  };
}

export function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  if (!url.pathname.endsWith('/v1/traces')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

function dresser({ serviceName, version, instanceId }: TracerSettings): (draft: SpanDraft) => Span {
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
