/** A thread that runs one world after the other, checks each, and drops it. */
import { parentPort } from 'node:worker_threads';
import { liveThrough } from './live-through.ts';
import type { WorldOrder } from './world-report.ts';

/** Faults are a part of these worlds: their stack traces are not read, and cost much. */
const usualLimit = Error.stackTraceLimit;
Error.stackTraceLimit = 0;

parentPort?.on('message', (order: WorldOrder) => {
  const requested = (count: number): void => parentPort?.postMessage({ kind: 'requested', count });
  // A world that throws does so each time: it runs once more, with stack traces.
  function again() {
    Error.stackTraceLimit = usualLimit;
    return liveThrough(order, requested);
  }
  liveThrough(order, requested)
    .catch(again)
    .then(
      (report) => parentPort?.postMessage({ kind: 'lived', report }),
      (fault: unknown) => parentPort?.postMessage({ kind: 'broke', fault }),
    );
});
