/** A thread that lives through one world after the other, judges each, and forgets it. */
import { parentPort } from 'node:worker_threads';
import { liveThrough } from './live-through.ts';
import type { WorldOrder } from './world-report.ts';

parentPort?.on('message', (order: WorldOrder) => {
  const asked = (count: number): void => parentPort?.postMessage({ kind: 'asked', count });
  liveThrough(order, asked).then(
    (report) => parentPort?.postMessage({ kind: 'lived', report }),
    (fault: unknown) => parentPort?.postMessage({ kind: 'broke', fault }),
  );
});
