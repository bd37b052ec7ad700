/** A table for the terminal: as wide as what is in it, numbers to the right. Pure. */
import { type Colour, type Paint, PLAIN } from './paint.ts';

/** Unknown values are undefined and shown as "?". */
export type Cell = string | number | undefined;

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => Cell;
  readonly colour?: (row: Row) => Colour | undefined;
}

const GAP = '  ';
const UNKNOWN = '?';

export function printTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  paint: Paint = PLAIN,
): string {
  const cells = columns.map(({ title, cell, colour }) => {
    const values = rows.map(cell);
    const texts = [title, ...values.map((value) => printable(String(value ?? UNKNOWN)))];
    const width = Math.max(...texts.map((text) => text.length));
    const isNumeric =
      values.some((value) => typeof value === 'number') && values.every((value) => typeof value !== 'string');
    const padded = texts.map((text) => (isNumeric ? text.padStart(width) : text.padEnd(width)));
    return padded.map((text, at) => {
      const row = rows[at - 1];
      return row === undefined ? text : paint(text, colour?.(row));
    });
  });
  return [-1, ...rows.keys()]
    .map((row) =>
      cells
        .map((column) => column[row + 1])
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

/** Replaces control characters, so that foreign text cannot control the terminal. Line breaks are kept on request. */
export const printable = (text: string, { keepsLines = false } = {}): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace.
  text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (sign) => (keepsLines && sign === '\n' ? sign : '�'));
