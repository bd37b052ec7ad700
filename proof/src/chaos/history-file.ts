/** A history in a file: one happening per line. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Happening } from '../../../packages/scheduler/dist/simulation/history.js';

export function keepHistory(path: string, history: readonly Happening[]): void {
  writeFileSync(path, history.map((each) => `${JSON.stringify(each)}\n`).join(''));
}

export const readHistory = (path: string): Happening[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Happening);
