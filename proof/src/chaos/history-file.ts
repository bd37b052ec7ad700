/** A history in a file: one event per line. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { HistoryEvent } from '../../../packages/simulation/dist/history.js';

export function keepHistory(path: string, history: readonly HistoryEvent[]): void {
  writeFileSync(path, history.map((each) => `${JSON.stringify(each)}\n`).join(''));
}

export const readHistory = (path: string): HistoryEvent[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as HistoryEvent);

/** An empty history breaks no invariant: that is no proof. */
export function whyUnjudgeable(history: readonly HistoryEvent[]): string | undefined {
  if (history.length === 0) return 'is empty: nothing can be judged by it';
  if (!history.some(({ kind }) => kind === 'asked'))
    return 'has no request in it: nothing can be judged by it';
  return undefined;
}
