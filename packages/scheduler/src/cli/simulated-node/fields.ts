/** Reads the fields of one table of a file, and collects problems under their full names. */
import { nearestName } from '../../config/nearest-name.ts';

export interface Range {
  readonly min: number;
  readonly max: number;
  readonly isWhole?: boolean;
}

export interface Fields {
  has(name: string): boolean;
  /** Without a default the field is required. An invalid value reads as NaN, so that comparisons report no second problem. */
  number(name: string, usual: number | undefined, range: Range): number;
  optionalNumber(name: string, range: Range): number | undefined;
  text(name: string, usual: string): string;
  flag(name: string, usual: boolean): boolean;
  choice<const Word extends string>(name: string, words: readonly Word[]): Word | undefined;
  table(name: string): Fields | undefined;
  tables(name: string): Fields[];
  refuse(name: string, message: string): void;
  /** Reports fields that were not read. */
  refuseOthers(): void;
}

export function createFields(value: unknown, path: string, problems: string[]): Fields {
  const table = isTable(value) ? value : {};
  const known = new Set<string>();
  const refuse = (name: string, message: string): void => {
    problems.push(`${path}${name} ${message}`);
  };
  if (!isTable(value)) problems.push(`${path.slice(0, -1) || 'the file'} must be a table`);

  function get(name: string): unknown {
    known.add(name);
    return Object.hasOwn(table, name) ? table[name] : undefined;
  }

  function numberOr(name: string, { min, max, isWhole = false }: Range): number | undefined {
    const found = get(name);
    if (found === undefined) return undefined;
    const isRight =
      typeof found === 'number' && found >= min && found <= max && (!isWhole || Number.isInteger(found));
    if (isRight) return found;
    refuse(name, `must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`);
    return Number.NaN;
  }

  return {
    has: (name) => Object.hasOwn(table, name),
    refuse,
    number(name, usual, range) {
      const found = numberOr(name, range) ?? usual;
      if (found === undefined) refuse(name, 'is missing');
      return found ?? Number.NaN;
    },
    optionalNumber: numberOr,
    text(name, usual) {
      const found = get(name) ?? usual;
      if (typeof found === 'string' && found !== '' && found.length <= 128) return found;
      refuse(name, 'must be a text of 1 to 128 characters');
      return usual;
    },
    flag(name, usual) {
      const found = get(name) ?? usual;
      if (typeof found === 'boolean') return found;
      refuse(name, 'must be true or false');
      return usual;
    },
    choice(name, words) {
      const found = get(name);
      const word = words.find((candidate) => candidate === found);
      if (word === undefined) refuse(name, `must be one of ${words.join(', ')}`);
      return word;
    },
    table(name) {
      const found = get(name);
      return found === undefined ? undefined : createFields(found, `${path}${name}.`, problems);
    },
    tables(name) {
      const found = get(name);
      if (Array.isArray(found) && found.length > 0)
        return found.map((item, index) => createFields(item, `${path}${name}[${index}].`, problems));
      refuse(name, 'must be one table or more');
      return [];
    },
    refuseOthers() {
      for (const name of Object.keys(table)) {
        if (known.has(name)) continue;
        const near = nearestName(name, known);
        refuse(name, near === undefined ? 'is unknown' : `is unknown; did you mean ${near}?`);
      }
    },
  };
}

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
