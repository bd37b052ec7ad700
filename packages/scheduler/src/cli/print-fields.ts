/** Named values for the terminal, one per line; empty ones are left out. Pure. */
import { printable } from './print-table.ts';

export type Field = readonly [name: string, value: string | number | undefined];

export function printFields(fields: readonly Field[]): string {
  const shown = fields.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value))}`).join('\n');
}
