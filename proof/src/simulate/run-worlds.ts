/** Runs worlds, as many at a time as there are threads, and returns their reports in the order of the requests. */
import { Worker } from 'node:worker_threads';
import type { WorldOrder, WorldReport } from './world-report.ts';

export interface RunWorldsOptions {
  readonly threads: number;
  /** The file of the thread; another one in tests, which run the sources. */
  readonly worker?: URL;
  /** Called from time to time with the number of requests of an unfinished world. */
  readonly progress?: ((order: number, requested: number) => void) | undefined;
}

type WorkerMessage =
  | { readonly kind: 'requested'; readonly count: number }
  | { readonly kind: 'lived'; readonly report: WorldReport }
  | { readonly kind: 'broke'; readonly fault: unknown };

/** Room for short-lived objects, in each thread. */
export const YOUNG_MB = 192;

/** A consumer that stops reading ends the threads. A fault in one of them is thrown here. */
export async function* runWorlds(
  orders: readonly WorldOrder[],
  options: RunWorldsOptions,
): AsyncGenerator<WorldReport> {
  const { threads, worker: file = new URL('./world-worker.js', import.meta.url) } = options;
  const reports = orders.map(() => settleLater<WorldReport>());
  let next = 0;

  function work(thread: Worker): void {
    const at = next++;
    const [order, report] = [orders[at], reports[at]];
    thread.removeAllListeners();
    if (order === undefined || report === undefined) return;
    thread.on('error', report.reject);
    thread.on('message', (message: WorkerMessage) => {
      if (message.kind === 'requested') options.progress?.(at, message.count);
      else if (message.kind === 'broke') report.reject(message.fault);
      else {
        report.resolve(message.report);
        work(thread);
      }
    });
    thread.postMessage(order);
  }

  // Whatever flags this process was started with, as tests are: threads run the compiled files.
  const workers = Array.from(
    { length: Math.min(threads, orders.length) },
    () => new Worker(file, { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } }),
  );
  try {
    for (const thread of workers) work(thread);
    for (const { promise } of reports) yield await promise;
  } finally {
    await Promise.all(workers.map((thread) => thread.terminate()));
  }
}

function settleLater<T>() {
  let settle: { resolve: (value: T) => void; reject: (fault: unknown) => void } | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // A consumer that waits for an earlier world receives that fault first; this one may never be read.
  promise.catch(() => {});
  return {
    promise,
    resolve: (value: T) => settle?.resolve(value),
    reject: (fault: unknown) => settle?.reject(fault),
  };
}
