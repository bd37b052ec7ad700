/** A thread that runs one world after the other, checks each, and drops it. */
import { writeFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { lineOf, runSeed } from './run-seed.ts';
import { reportOf, type WorldOrder, type WorldReport } from './world-report.ts';

/** Faults are a part of these worlds: their stack traces are not read, and cost much. */
const usualLimit = Error.stackTraceLimit;
Error.stackTraceLimit = 0;

parentPort?.on('message', (order: WorldOrder) => {
  const requested = (count: number): void => parentPort?.postMessage({ kind: 'requested', count });
  // A world that throws does so each time: it runs once more, with stack traces.
  function again() {
    Error.stackTraceLimit = usualLimit;
    return runWorld(order, requested);
  }
  runWorld(order, requested)
    .catch(again)
    .then(
      (report) => parentPort?.postMessage({ kind: 'lived', report }),
      (fault: unknown) => parentPort?.postMessage({ kind: 'broke', fault }),
    );
});

async function runWorld(order: WorldOrder, progress?: (requested: number) => void): Promise<WorldReport> {
  const { seed, jobs, faults, scenario, historyFile } = order;
  const result = await runSeed({ seed, jobs, faults, scenario, progress });
  if (historyFile !== undefined) writeFileSync(historyFile, result.simulation.history.map(lineOf).join(''));
  return reportOf({ seed, jobs }, result);
}
