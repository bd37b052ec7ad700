/** Fields of a declared table, read one by one: errors name file and field, and a field that was not read is an error, too. */

export class ScenarioError extends Error {
  constructor(file: string, field: string, problem: string) {
    super(`${file}: ${field === '' ? '' : `${field}: `}${problem}`);
    this.name = 'ScenarioError';
  }
}

interface Range {
  readonly min?: number;
  readonly max?: number;
  readonly isWhole?: boolean;
}

export interface Fields {
  has(name: string): boolean;
  text(name: string, fallback?: string): string;
  number(name: string, range: Range, fallback?: number): number;
  choice<T extends string>(name: string, choices: readonly T[], fallback?: T): T;
  choices<T extends string>(name: string, choices: readonly T[], fallback: readonly T[]): readonly T[];
  texts(name: string, fallback: readonly string[]): readonly string[];
  numbers(name: string, range: Range): readonly number[];
  /** Empty if it is absent. */
  table(name: string): Fields;
  tables(name: string): readonly Fields[];
  fail(name: string, problem: string): never;
  /** Reports fields that were not read, here and in the tables that were. */
  end(): void;
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

export function createFields(file: string, values: Record<string, unknown>, path = ''): Fields {
  const known = new Set<string>();
  const inner: Fields[] = [];
  const pathOf = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const fail = (name: string, problem: string): never => {
    throw new ScenarioError(file, pathOf(name), problem);
  };
  function take(name: string): unknown {
    known.add(name);
    return values[name];
  }
  function present<T>(name: string, fallback: T | undefined, read: (value: unknown) => T): T {
    const value = take(name);
    if (value !== undefined) return read(value);
    return fallback ?? fail(name, 'is missing');
  }
  function list(name: string, value: unknown): readonly unknown[] {
    return Array.isArray(value) && value.length > 0
      ? value
      : fail(name, 'must be a list with something in it');
  }
  const asText = (name: string, value: unknown): string =>
    typeof value === 'string' && value !== '' ? value : fail(name, 'must be a text that is not empty');
  function asNumber(name: string, value: unknown, { min, max, isWhole = false }: Range): number {
    const kind = isWhole ? 'a whole number' : 'a number';
    if (typeof value !== 'number' || !Number.isFinite(value) || (isWhole && !Number.isInteger(value)))
      return fail(name, `must be ${kind}`);
    if (min !== undefined && value < min) return fail(name, `must be at least ${min}, not ${value}`);
    if (max !== undefined && value > max) return fail(name, `must be at most ${max}, not ${value}`);
    return value;
  }
  function asChoice<T extends string>(name: string, value: unknown, choices: readonly T[]): T {
    const found = choices.find((choice) => choice === value);
    return found ?? fail(name, `must be one of ${choices.join(', ')}, not ${JSON.stringify(value)}`);
  }
  function keep(fields: Fields): Fields {
    inner.push(fields);
    return fields;
  }
  return {
    has: (name) => values[name] !== undefined,
    text: (name, fallback) => present(name, fallback, (value) => asText(name, value)),
    number: (name, range, fallback) => present(name, fallback, (value) => asNumber(name, value, range)),
    choice: (name, choices, fallback) => present(name, fallback, (value) => asChoice(name, value, choices)),
    choices: (name, choices, fallback) =>
      present(name, fallback, (value) =>
        list(name, value).map((each, index) => asChoice(`${name}[${index}]`, each, choices)),
      ),
    texts: (name, fallback) =>
      present(name, fallback, (value) =>
        list(name, value).map((each, index) => asText(`${name}[${index}]`, each)),
      ),
    numbers: (name, range) =>
      present(name, undefined, (value) =>
        list(name, value).map((each, index) => asNumber(`${name}[${index}]`, each, range)),
      ),
    table(name) {
      const value = take(name) ?? {};
      return isTable(value)
        ? keep(createFields(file, value, pathOf(name)))
        : fail(name, `must be a table, [${pathOf(name)}]`);
    },
    tables(name) {
      const value = take(name) ?? [];
      if (!Array.isArray(value) || !value.every(isTable))
        return fail(name, `must be a list of tables, [[${pathOf(name)}]]`);
      return value.map((each, index) => keep(createFields(file, each, `${pathOf(name)}[${index}]`)));
    },
    fail,
    end() {
      const unknown = Object.keys(values).find((name) => !known.has(name));
      if (unknown !== undefined) fail(unknown, 'is no field that is known here');
      for (const fields of inner) fields.end();
    },
  };
}
