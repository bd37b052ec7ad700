/** Composition root: the tracer, if traces are configured. Otherwise there is none, and OpenTelemetry is not loaded. */
import { type LoadedTracer, loadTracer } from '../../adapters/opentelemetry/load-tracer.ts';
import { VERSION } from '../../cli/version.ts';
import type { Config } from '../../config/settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';

export function createTraces(deps: {
  config: Config;
  clock: Clock;
  meter: Meter;
  log: Log;
  instanceId: string | undefined;
}): LoadedTracer | undefined {
  const { config, clock, meter, log, instanceId } = deps;
  const { otlp_endpoint: endpoint, trace_sample_ratio, trace_service_name } = config.scheduler.observability;
  if (endpoint === undefined) return undefined;
  const settings = {
    endpoint,
    sampleRatio: trace_sample_ratio,
    serviceName: trace_service_name,
    version: VERSION,
    instanceId,
  };
  return loadTracer({ clock, meter, log, settings });
}
