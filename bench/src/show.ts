/** Progress while it runs, tables at the end. */
import { type Figure, isMet } from './measure.ts';

export const logLine = (line: string): void => void process.stderr.write(`${line}\n`);

export function table(figures: readonly Figure[]): string {
  const hasTargets = figures.some(({ target }) => target !== undefined);
  const rows = figures.map((figure) => [
    figure.scenario,
    figure.name,
    amount(figure.value),
    figure.unit,
    ...(hasTargets ? [promise(figure), verdict(figure)] : []),
  ]);
  const head = ['scenario', 'figure', 'value', 'unit', ...(hasTargets ? ['target', ''] : [])];
  return columns([head, ...rows], new Set([2]));
}

/** The first row is the head. `right`: columns of numbers. */
export function columns(rows: readonly (readonly string[])[], right: ReadonlySet<number>): string {
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length))) ?? [];
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        right.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const [head = [], ...rest] = rows;
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rest.map(line)].join('\n');
}

export function amount(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1_000) return Math.round(value).toLocaleString('en-US');
  if (size >= 10) return value.toFixed(1);
  // A ratio of one to a thousand is not zero.
  if (size > 0 && size < 0.000_1) return '< 0.0001';
  return size > 0 && size < 0.1 ? value.toPrecision(2) : value.toFixed(2);
}

export function promise({ target }: Pick<Figure, 'target'>): string {
  if (target === undefined) return '';
  return 'atLeast' in target ? `≥ ${amount(target.atLeast)}` : `≤ ${amount(target.atMost)}`;
}

function verdict(figure: Figure): string {
  const met = isMet(figure);
  return met === undefined ? '' : met ? 'met' : 'MISSED';
}
