/** Prints events while a run lasts, one per line. */
import type { HistoryEvent, Recorder } from '../../../../packages/simulation/dist/history.js';
import { isGreat, type PlannedKind } from '../plan-faults.ts';

const EVERY_MS = 5_000;
const LOOK_MS = 200;

/** Returns a function that ends it. */
export function printProgress(recorder: Recorder, print: (line: string) => void): () => void {
  const tally = { requests: 0, accepted: 0, results: 0, missing: 0, faults: 0 };
  const current = new Map<number, string>();
  let read = 0;
  let printedAt = 0;

  function take(each: HistoryEvent): void {
    if (each.kind === 'asked') tally.requests += 1;
    else if (each.kind === 'accepted') tally.accepted += 1;
    else if (each.kind === 'outcome') tally[each.result === undefined ? 'missing' : 'results'] += 1;
    else if (each.kind === 'fault_began') {
      tally.faults += 1;
      if (!isGreat(each.what as PlannedKind)) return;
      current.set(each.fault, `${each.what} (${each.target})`);
      print(`${stamp(each.at)}  ${each.what} begins: ${each.target}`);
    } else if (each.kind === 'fault_ended') {
      const what = current.get(each.fault);
      if (current.delete(each.fault)) print(`${stamp(each.at)}  ${what} is over`);
    } else if (each.kind === 'quiet')
      print(`${stamp(each.at)}  no more work, no more faults: waiting for the rest to end`);
  }

  function look(): void {
    for (; read < recorder.history.length; read += 1) take(recorder.history[read] as HistoryEvent);
    if (recorder.now() - printedAt < EVERY_MS) return;
    printedAt = recorder.now();
    const { requests, results, missing, faults } = tally;
    print(
      `${stamp(printedAt)}  ${requests} requests, ${results} results, ${missing} without one, ${requests - results - missing} open; ${faults} faults`,
    );
  }

  const timer = setInterval(look, LOOK_MS);
  return () => {
    clearInterval(timer);
    look();
  };
}

const stamp = (ms: number): string => `${(ms / 1_000).toFixed(1).padStart(7)} s`;
