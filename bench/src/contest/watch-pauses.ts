/** When this process was blocked: pauses of its garbage collector, and delays of its event loop. */
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { cpuMicros } from '../measure.ts';
import { createHistogram } from '../open-loop/histogram.ts';
import type { Figures } from '../scenario/vocabulary.ts';

/** How often the loop is expected to run; the recorded values include this. */
const RESOLUTION_MS = 10;

export type PauseFigures = Pick<
  Figures,
  'gc_p999_ms' | 'gc_max_ms' | 'loop_p999_ms' | 'loop_max_ms' | 'loop_own_p999_ms' | 'loop_own_max_ms'
>;

/** The returned function reports the time since its last call. */
export function watchPauses(): () => PauseFigures {
  let pauses = createHistogram();
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) pauses.record(duration);
  });
  observer.observe({ entryTypes: ['gc'] });
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const own = watchOwnStalls();
  const late = (nanos: number): number => Math.max(0, nanos / 1e6 - RESOLUTION_MS);
  return () => {
    const none = pauses.count === 0;
    const seen = {
      gc_p999_ms: none ? 0 : pauses.percentile(0.999),
      gc_max_ms: pauses.maxMs,
      loop_p999_ms: late(delay.percentile(99.9)),
      loop_max_ms: late(delay.max),
      ...own(),
    };
    pauses = createHistogram();
    delay.reset();
    return seen;
  };
}

/**
 * How late the loop was because of work of this process: never more than the CPU time it used meanwhile. The rest is due to other
 * programs on the machine.
 */
function watchOwnStalls(): () => Pick<PauseFigures, 'loop_own_p999_ms' | 'loop_own_max_ms'> {
  let stalls = createHistogram();
  let [lastAt, lastCpu] = [performance.now(), cpuMicros()];
  setInterval(() => {
    const [at, cpu] = [performance.now(), cpuMicros()];
    const lateMs = Math.max(0, at - lastAt - RESOLUTION_MS);
    stalls.record(Math.min(lateMs, (cpu - lastCpu) / 1_000));
    [lastAt, lastCpu] = [at, cpu];
  }, RESOLUTION_MS).unref();
  return () => {
    const seen = {
      loop_own_p999_ms: stalls.count === 0 ? 0 : stalls.percentile(0.999),
      loop_own_max_ms: stalls.maxMs,
    };
    stalls = createHistogram();
    return seen;
  };
}
