/** A thread that lives through one world after the other, judges each, and forgets it. */
import { parentPort } from 'node:worker_threads';
import { liveThrough } from './live-through.ts';
import type { WorldOrder } from './world-report.ts';

/** Faults are a part of these worlds: nobody reads where each was thrown, and finding out is dear. */
const usualLimit = Error.stackTraceLimit;
Error.stackTraceLimit = 0;

parentPort?.on('message', (order: WorldOrder) => {
  const asked = (count: number): void => parentPort?.postMessage({ kind: 'asked', count });
  // One that breaks does so each time: once more, to say where.
  function again() {
    Error.stackTraceLimit = usualLimit;
    return liveThrough(order, asked);
  }
  liveThrough(order, asked)
    .catch(again)
    .then(
      (report) => parentPort?.postMessage({ kind: 'lived', report }),
      (fault: unknown) => parentPort?.postMessage({ kind: 'broke', fault }),
    );
});
