/** Composition root: traces, if they are on. Otherwise there is no tracer, and OpenTelemetry is not loaded. */
import type { RunningTracer } from '../adapters/opentelemetry/tracer.ts';
import type { Config } from '../config/settings.ts';
import { isOutcome, type JobRecord } from '../domain/job.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { Tracer } from '../ports/tracer.ts';
import { VERSION } from './version.ts';

export interface Traces {
  readonly tracer: Tracer;
  /** Must end before the first job. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** How long a shutdown waits for a slow collector. */
const FLUSH_LIMIT_MS = 2_000;

export function createTraces(deps: {
  config: Config;
  clock: Clock;
  meter: Meter;
  log: Log;
  instanceId: string | undefined;
}): Traces | undefined {
  const { config, clock, meter, log, instanceId } = deps;
  const { otlp_endpoint: endpoint, trace_sample_ratio, trace_service_name } = config.scheduler.observability;
  if (endpoint === undefined) return undefined;
  let running: RunningTracer | undefined;
  return {
    tracer: {
      jobSettled: (job) => running?.jobSettled(job),
      utteranceEnded: (utterance) => running?.utteranceEnded(utterance),
    },
    async start() {
      const { createTracer } = await import('../adapters/opentelemetry/tracer.ts');
      const settings = {
        endpoint,
        sampleRatio: trace_sample_ratio,
        serviceName: trace_service_name,
        version: VERSION,
        instanceId,
      };
      running = createTracer({ clock, meter, log, settings });
    },
    stop: async () => running?.stop(FLUSH_LIMIT_MS),
  };
}

/** Adds a trace of each outcome to the function that publishes job changes. Without a tracer that function is returned unchanged. */
export function tracing(
  tracer: Tracer | undefined,
  publish: (job: JobRecord) => void,
): (job: JobRecord) => void {
  if (tracer === undefined) return publish;
  return (job) => {
    publish(job);
    if (isOutcome(job)) tracer.jobSettled(job);
  };
}
