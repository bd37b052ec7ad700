/** The tracer by OTLP/HTTP keeps its port's law, with a real collector on a real socket. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { jobSpans, tracedJob } from '../../../src/adapters/opentelemetry/job-spans.ts';
import { createTracer, tracesUrl } from '../../../src/adapters/opentelemetry/tracer.ts';
import { utteranceSpans } from '../../../src/adapters/opentelemetry/utterance-spans.ts';
import { createLog } from '../../../src/adapters/system/log.ts';
import { endedUtterance, settledJob, tracerContract } from '../../contracts/tracer.ts';
import { startOtlpReceiver } from '../../e2e/support/otlp-receiver.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const LONG_MS = 60_000;

async function openTracer(sampleRatio = 1) {
  const receiver = await startOtlpReceiver();
  const clock = createManualClock();
  const counted = { exported: 0, dropped: 0 };
  const tracer = createTracer({
    clock,
    log: createLog('silent'),
    meter: {
      count(name, _labels, by = 1) {
        if (name === 'scheduler_trace_spans_exported_total') counted.exported += by;
        if (name === 'scheduler_trace_spans_dropped_total') counted.dropped += by;
      },
      gauge() {},
      observe() {},
    },
    settings: { endpoint: receiver.url, sampleRatio, serviceName: 'test', version: '0', instanceId: 'one' },
  });
  return { receiver, clock, counted, tracer };
}

tracerContract('opentelemetry', async () => {
  const { receiver, clock, counted, tracer } = await openTracer();
  let told = 0;
  return {
    tracer: {
      jobSettled(job) {
        told += jobSpans(tracedJob(job)).length;
        tracer.jobSettled(job);
      },
      utteranceEnded(utterance) {
        told += utteranceSpans(utterance).length;
        tracer.utteranceEnded(utterance);
      },
    },
    setReachable: (isReachable) => receiver.answer(isReachable ? 200 : 400),
    text: () => receiver.bodies.join('\n'),
    async seen() {
      // Time is stepped, the network is real.
      while (counted.exported + counted.dropped < told) {
        await clock.advance(LONG_MS);
        await sleep(1);
      }
      return receiver.spans.map(({ name, traceId, spanId, parentSpanId }) => ({
        name,
        traceId,
        spanId,
        parentSpanId: parentSpanId || undefined,
      }));
    },
    dropped: () => counted.dropped,
    close: () => tracer.stop(0),
  };
});

describe('the tracer by OTLP/HTTP', () => {
  it('keeps nothing of what falls outside the sample', async () => {
    const { tracer, clock } = await openTracer(0);
    tracer.jobSettled(settledJob());
    tracer.utteranceEnded(endedUtterance());
    expect(clock.pending()).toBe(0);
  });

  it('finds the path for traces below the address it is given', () => {
    expect(tracesUrl('http://collector:4318')).toBe('http://collector:4318/v1/traces');
    expect(tracesUrl('https://host/otlp/')).toBe('https://host/otlp/v1/traces');
    expect(tracesUrl('https://host/v1/traces')).toBe('https://host/v1/traces');
  });
});
