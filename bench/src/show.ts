/** Progress while it runs, a table at the end. */
import { type Figure, isMet } from './measure.ts';

export const say = (line: string): void => void process.stderr.write(`${line}\n`);

export function table(figures: readonly Figure[]): string {
  const hasTargets = figures.some(({ target }) => target !== undefined);
  const rows = figures.map((figure) => [
    figure.scenario,
    figure.name,
    amount(figure.value),
    figure.unit,
    ...(hasTargets ? [promise(figure), verdict(figure)] : []),
  ]);
  const all = [['scenario', 'figure', 'value', 'unit', ...(hasTargets ? ['target', ''] : [])], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length))) ?? [];
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column === 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [
    line(all[0] ?? []),
    widths.map((width) => '-'.repeat(width)).join('  '),
    ...all.slice(1).map(line),
  ].join('\n');
}

function amount(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString('en-US');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function promise({ target }: Figure): string {
  if (target === undefined) return '';
  return 'atLeast' in target ? `≥ ${amount(target.atLeast)}` : `≤ ${amount(target.atMost)}`;
}

function verdict(figure: Figure): string {
  const met = isMet(figure);
  return met === undefined ? '' : met ? 'met' : 'MISSED';
}
