/** How late the event loop runs, measured by Node.js itself. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface EventLoopProbe {
  /** 99th percentile since the last call, in seconds. */
  delayP99(): number;
  /** The maximum since the last call, in milliseconds. */
  worstMs(): number;
  stop(): void;
}

const RESOLUTION_MS = 20;

export function createEventLoopProbe(): EventLoopProbe {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  // Two histograms, because a read resets its histogram.
  const worst = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  worst.enable();
  return {
    delayP99() {
      // The resolution of the timer is not a delay.
      const delay = Math.max(0, histogram.percentile(99) / 1e9 - RESOLUTION_MS / 1e3);
      histogram.reset();
      return Number.isFinite(delay) ? delay : 0;
    },
    worstMs() {
      const delay = worst.max / 1e6 - RESOLUTION_MS;
      const isMeasured = worst.count > 0;
      worst.reset();
      return isMeasured ? Math.max(0, delay) : 0;
    },
    stop() {
      histogram.disable();
      worst.disable();
    },
  };
}
