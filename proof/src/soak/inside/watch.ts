/** Runs in the process of an instance, before it: reports what only the process itself knows of its memory, handles and pauses. */
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { getHeapCodeStatistics } from 'node:v8';

export interface Look {
  readonly rss: number;
  readonly heapUsed: number;
  /** After a full garbage collection, without compiled code; only on request. */
  readonly heapLive?: number;
  readonly external: number;
  readonly arrayBuffers: number;
  /** Sockets, servers, pipes. */
  readonly handles: number;
  readonly timers: number;
  /** Since the last read. */
  readonly loopP99Ms: number;
  readonly gcMaxMs: number;
}

export interface LookOrder {
  readonly look: number;
  readonly collects: boolean;
}

export interface LookAnswer {
  readonly look: number;
  readonly seen: Look;
}

const RESOLUTION_MS = 10;
const TIMERS = new Set(['Timeout', 'Immediate']);

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
let gcMaxMs = 0;
const observer = new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { duration, detail } = entry as typeof entry & { readonly detail?: { readonly flags?: number } };
    const flags = detail?.flags ?? 0;
    // Collections that the harness requests are not the scheduler's.
    const isForced = (flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;
    if (!isForced) gcMaxMs = Math.max(gcMaxMs, duration);
  }
});
observer.observe({ entryTypes: ['gc'] });

process.on('message', ({ look, collects }: LookOrder) => {
  const answer: LookAnswer = { look, seen: seen(collects) };
  process.send?.(answer);
});
// It must live and end as it would without the watch, but never longer than the harness.
process.channel?.unref();
process.on('disconnect', () => process.exit(1));

function seen(collects: boolean): Look {
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  const timers = resources.filter((name) => TIMERS.has(name)).length;
  // Requests to the system are not kept, they are under way.
  const handles = resources.filter((name) => !TIMERS.has(name) && !name.includes('Req')).length;
  const loopP99Ms = Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS);
  const pauses = { loopP99Ms, gcMaxMs };
  const memory = { rss, heapUsed, external, arrayBuffers };
  const live = collects ? { heapLive: liveHeap() } : {};
  delay.reset();
  // The event loop measures only after this how late it was because of the collection.
  if (collects) setTimeout(() => delay.reset(), 2 * RESOLUTION_MS).unref();
  gcMaxMs = 0;
  return { ...memory, ...live, handles, timers, ...pauses };
}

/** The engine goes on compiling frequently used code for tens of minutes: that is no leak, and would hide a small one. */
function liveHeap(): number {
  globalThis.gc?.();
  const { code_and_metadata_size: code, bytecode_and_metadata_size: bytecode } = getHeapCodeStatistics();
  return process.memoryUsage().heapUsed - code - bytecode;
}
