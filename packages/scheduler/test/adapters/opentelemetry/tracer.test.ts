/** The tracer by OTLP/HTTP: its contract with a real collector on a socket, and its queue with an exporter that the test controls. */
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { jobSpans } from '../../../src/adapters/opentelemetry/job-spans.ts';
import { createTracer, SPAN_LIMITS, tracesUrl } from '../../../src/adapters/opentelemetry/tracer.ts';
import { utteranceSpans } from '../../../src/adapters/opentelemetry/utterance-spans.ts';
import { createLog } from '../../../src/adapters/system/log.ts';
import { endedUtterance, settledJob, tracerContract } from '../../contracts/tracer.ts';
import { startOtlpReceiver } from '../../e2e/support/otlp-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const SPANS_PER_UTTERANCE = 2;

function openTracer(options: { endpoint?: string; sampleRatio?: number; exporter?: SpanExporter }) {
  const clock = createManualClock();
  const counts = new Map<string, number>();
  const tracer = createTracer({
    clock,
    log: createLog('silent'),
    meter: {
      count(name, labels, by = 1) {
        const key = labels?.reason ?? name;
        counts.set(key, (counts.get(key) ?? 0) + by);
      },
      gauge() {},
      observe() {},
    },
    settings: {
      endpoint: options.endpoint ?? 'http://127.0.0.1:9',
      sampleRatio: options.sampleRatio ?? 1,
      serviceName: 'test',
      version: '0',
      instanceId: 'one',
    },
    ...(options.exporter !== undefined && { exporter: options.exporter }),
  });
  return {
    clock,
    tracer,
    exported: () => counts.get('scheduler_trace_spans_exported_total') ?? 0,
    dropped: (reason: 'queue_full' | 'not_sent' | 'stopping') => counts.get(reason) ?? 0,
  };
}

tracerContract('opentelemetry', async () => {
  const receiver = await startOtlpReceiver();
  const { tracer, exported, dropped } = openTracer({ endpoint: receiver.url });
  const allDropped = () => dropped('queue_full') + dropped('not_sent') + dropped('stopping');
  let made = 0;
  return {
    tracer: {
      jobSettled(job) {
        made += jobSpans(job).length;
        tracer.jobSettled(job);
      },
      utteranceEnded(utterance) {
        made += utteranceSpans(utterance).length;
        tracer.utteranceEnded(utterance);
      },
    },
    setReachable: (isReachable) => receiver.answer(isReachable ? 200 : 400),
    text: () => receiver.bodies.join('\n'),
    async seen() {
      await eventually(() => exported() + allDropped() === made);
      return receiver.spans.map(({ name, traceId, spanId, parentSpanId }) => ({
        name,
        traceId,
        spanId,
        parentSpanId: parentSpanId || undefined,
      }));
    },
    dropped: allDropped,
    close: () => tracer.stop(0),
  };
});

/** A collector that accepts or rejects each batch on the order of the test. */
function openWithExporter() {
  const batches: number[] = [];
  const answers: ((isAccepted: boolean) => void)[] = [];
  const exporter: SpanExporter = {
    export(spans, done) {
      batches.push(spans.length);
      answers.push((isAccepted) => done({ code: isAccepted ? 0 : 1 }));
    },
    shutdown: async () => undefined,
  };
  const opened = openTracer({ exporter });
  const add = (utterances: number) => {
    for (let index = 0; index < utterances; index += 1)
      opened.tracer.utteranceEnded(endedUtterance({ index }));
  };
  return { ...opened, add, batches, answers };
}

describe('the queue of spans', () => {
  it('exports a full batch at once and the next one after the answer', async () => {
    const { add, batches, answers, exported } = openWithExporter();
    add(SPAN_LIMITS.maxPerBatch);
    expect(batches).toEqual([SPAN_LIMITS.maxPerBatch]);
    answers[0]?.(true);
    await eventually(() => batches.length === 2);
    expect(exported()).toBe(SPAN_LIMITS.maxPerBatch);
  });

  it('I11 bounded: counts each span that finds the queue full', () => {
    const { add, dropped } = openWithExporter();
    const room = SPAN_LIMITS.maxQueued + SPAN_LIMITS.maxPerBatch;
    add(room / SPANS_PER_UTTERANCE + 5);
    expect(dropped('queue_full')).toBe(5 * SPANS_PER_UTTERANCE);
  });

  it('counts the spans of a rejected batch and sends the next batch', async () => {
    const { add, batches, answers, dropped } = openWithExporter();
    add(SPAN_LIMITS.maxPerBatch);
    answers[0]?.(false);
    await eventually(() => batches.length === 2);
    expect(dropped('not_sent')).toBe(SPAN_LIMITS.maxPerBatch);
  });

  it('is exported completely at shutdown', async () => {
    const { tracer, add, batches, answers, exported } = openWithExporter();
    add(3);
    expect(batches).toEqual([]);
    const stopping = tracer.stop(2_000);
    await eventually(() => batches.length === 1);
    answers[0]?.(true);
    await stopping;
    expect(exported()).toBe(3 * SPANS_PER_UTTERANCE);
  });

  it('counts spans without an answer at the shutdown limit, and later ones', async () => {
    const { clock, tracer, add, answers, dropped, exported } = openWithExporter();
    add(3);
    const stopping = tracer.stop(2_000);
    await clock.advance(2_000);
    await stopping;
    expect(dropped('stopping')).toBe(3 * SPANS_PER_UTTERANCE);
    add(1);
    expect(dropped('stopping')).toBe(4 * SPANS_PER_UTTERANCE);
    for (const answer of answers) answer(true);
    expect(exported()).toBe(0);
  });

  it('makes a shutdown without spans end at once', async () => {
    await openWithExporter().tracer.stop(2_000);
  });

  it('gets no spans of traces outside the sample', async () => {
    const { tracer, exported, dropped } = openTracer({ sampleRatio: 0 });
    tracer.jobSettled(settledJob());
    tracer.utteranceEnded(endedUtterance());
    await tracer.stop(2_000);
    expect([exported(), dropped('not_sent'), dropped('stopping')]).toEqual([0, 0, 0]);
  });
});

describe('the address of the collector', () => {
  it('is completed with the path for traces', () => {
    expect(tracesUrl('http://collector:4318')).toBe('http://collector:4318/v1/traces');
    expect(tracesUrl('https://host/otlp/')).toBe('https://host/otlp/v1/traces');
    expect(tracesUrl('https://host/v1/traces')).toBe('https://host/v1/traces');
  });
});
