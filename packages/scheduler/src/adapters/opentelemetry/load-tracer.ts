/** Hot path: a tracer that loads OpenTelemetry when it starts. Until then it drops what it is given. */
import type { Tracer } from '../../ports/tracer.ts';
import type { createTracer, RunningTracer } from './tracer.ts';

export interface LoadedTracer extends Tracer {
  /** Must end before the first job. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** How long a shutdown waits for a slow collector. */
const FLUSH_LIMIT_MS = 2_000;

export function loadTracer(deps: Parameters<typeof createTracer>[0]): LoadedTracer {
  let running: RunningTracer | undefined;
  return {
    jobSettled: (job) => running?.jobSettled(job),
    utteranceEnded: (utterance) => running?.utteranceEnded(utterance),
    async start() {
      running = (await import('./tracer.ts')).createTracer(deps);
    },
    stop: async () => running?.stop(FLUSH_LIMIT_MS),
  };
}
