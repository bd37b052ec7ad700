/** Settings made of settings: optional values, lists, tables and arrays of tables. Pure. */

import { nearestName } from './nearest-name.ts';
import { describeType, isTable, type Refuse, type Setting, type ValueOf } from './setting.ts';

type Columns = { readonly [name: string]: Setting<unknown> };
type Row<C extends Columns> = { readonly [K in keyof C]: ValueOf<C[K]> };

/** Unset by default; an empty text unsets it again. */
export const optional = <T>(setting: Setting<T>): Setting<T | undefined> => ({
  ...setting,
  default: undefined,
  allowed: `${setting.allowed}, or unset`,
  read: (value, at, refuse) =>
    value === undefined || value === '' ? undefined : setting.read(value, at, refuse),
  conceal: (value) => (value === undefined ? undefined : setting.conceal(value)),
});

/** A column that every row must have. */
export const required = <T>(setting: Setting<T>): Setting<T> => ({ ...setting, isRequired: true });

export const list = <T>(options: {
  readonly of: Setting<T>;
  readonly default: readonly T[];
  readonly doc: string;
  readonly maxItems?: number;
}): Setting<readonly T[]> => {
  const { of: item, maxItems = MAX_ITEMS } = options;
  return {
    kind: 'setting',
    type: `list of ${item.type}`,
    default: options.default,
    doc: options.doc,
    allowed: `a list; each item ${item.allowed}`,
    aliases: [],
    isRequired: false,
    isSecret: item.isSecret,
    read: (value, at, refuse) => {
      const items = readItems(value, at, refuse, `a list; each item ${item.allowed}`, maxItems);
      return items?.map((entry, index) => item.read(entry, `${at}[${index}]`, refuse)) ?? options.default;
    },
    fromText: (text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
        .map(item.fromText),
    conceal: (value) => (Array.isArray(value) ? value.map(item.conceal) : value),
  };
};

/** An array of tables. In the environment and in flags it is written as JSON. */
export const tables = <const C extends Columns>(options: {
  readonly columns: C;
  readonly doc: string;
  /** Lines of one row, for the example file. */
  readonly example?: readonly string[];
  readonly maxItems?: number;
}): Setting<readonly Row<C>[]> & { readonly columns: C; readonly example: readonly string[] } => {
  const { columns, example = [], maxItems = MAX_ITEMS } = options;
  return {
    kind: 'setting',
    type: 'array of tables',
    columns,
    example,
    default: [],
    doc: options.doc,
    allowed: 'an array of tables',
    aliases: [],
    isRequired: false,
    isSecret: false,
    read: (value, at, refuse) =>
      readItems(value, at, refuse, 'an array of tables', maxItems)?.map((entry, index) =>
        readRow(columns, entry, `${at}[${index}]`, refuse),
      ) ?? [],
    fromText: parseJson,
    conceal: (value) => (Array.isArray(value) ? value.map((row) => concealRow(columns, row)) : value),
  };
};

/** One table inside a row. */
export const record = <const C extends Columns>(options: {
  readonly columns: C;
  readonly doc: string;
}): Setting<Row<C>> & { readonly columns: C } => {
  const { columns } = options;
  return {
    kind: 'setting',
    type: 'table',
    columns,
    default: readRow(columns, {}, '', () => {}),
    doc: options.doc,
    allowed: 'a table',
    aliases: [],
    isRequired: false,
    isSecret: false,
    read: (value, at, refuse) => readRow(columns, value, at, refuse),
    fromText: parseJson,
    conceal: (value) => concealRow(columns, value),
  };
};

/** The columns of a setting that is made of tables. */
export const columnsOf = (setting: Setting<unknown>): Columns | undefined =>
  'columns' in setting ? (setting.columns as Columns) : undefined;

export const exampleOf = (setting: Setting<unknown>): readonly string[] | undefined =>
  'example' in setting ? (setting.example as readonly string[]) : undefined;

const MAX_ITEMS = 10_000;

function readItems(
  value: unknown,
  at: string,
  refuse: Refuse,
  allowed: string,
  maxItems: number,
): readonly unknown[] | undefined {
  if (Array.isArray(value) && value.length <= maxItems) return value;
  // The message contains only the type: a misplaced token must not get into a log.
  refuse(
    at,
    Array.isArray(value)
      ? `has ${value.length} items, at most ${maxItems} are allowed`
      : `must be ${allowed}, got ${describeType(value)}`,
  );
  return undefined;
}

function readRow<C extends Columns>(columns: C, value: unknown, at: string, refuse: Refuse): Row<C> {
  const table = isTable(value) ? value : {};
  if (!isTable(value)) refuse(at, `must be a table, got ${describeType(value)}`);
  for (const name of Object.keys(table)) {
    if (Object.hasOwn(columns, name)) continue;
    const nearest = nearestName(name, Object.keys(columns));
    refuse(`${at}.${name}`, `is unknown${nearest === undefined ? '' : `; did you mean ${nearest}?`}`);
  }
  const row: Record<string, unknown> = {};
  for (const [name, column] of Object.entries(columns)) {
    const cell = Object.hasOwn(table, name) ? table[name] : undefined;
    if (cell !== undefined) row[name] = column.read(cell, `${at}.${name}`, refuse);
    else {
      row[name] = column.default;
      if (column.isRequired && isTable(value)) refuse(`${at}.${name}`, `is missing; it is ${column.allowed}`);
    }
  }
  return row as Row<C>;
}

function concealRow(columns: Columns, row: unknown): unknown {
  if (!isTable(row)) return row;
  const shown: Record<string, unknown> = {};
  for (const [name, column] of Object.entries(columns)) {
    if (row[name] !== undefined) shown[name] = column.conceal(row[name]);
  }
  return shown;
}

function parseJson(text: string): unknown {
  if (text.trim() === '') return [];
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
