/**
 * What a setting is, and the simple kinds: number, bytes, boolean, text, choice, url. Pure. The checks are one line each; a schema library
 * would only add a second description of the same limits beside `allowed`.
 */

/** Reports that the value at a path is not allowed. The message must never contain a secret. */
export type Refuse = (at: string, message: string) => void;

/** Another key that sets the same thing; its value is multiplied by `scale`. */
export interface Alias {
  readonly key: string;
  readonly scale?: number;
  /** A shorthand sets several keys at once, and yields to each of them; an alias may not contradict its key. */
  readonly isShorthand?: boolean;
}

export interface Setting<T> {
  readonly kind: 'setting';
  readonly type: string;
  readonly default: T;
  readonly doc: string;
  readonly allowed: string;
  readonly aliases: readonly Alias[];
  /** A required column of a table has no default. */
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** Checks a raw value. After a problem it returns the default, so that reading continues to the next problem. */
  readonly read: (value: unknown, at: string, refuse: Refuse) => T;
  /** Parses the text of an environment variable or flag. */
  readonly fromText: (text: string) => unknown;
  /** The value without its secrets. */
  readonly conceal: (value: unknown) => unknown;
}

/** A key of legacy programs that is accepted, so that their files load, but has no effect here. */
export interface Ignored {
  readonly kind: 'ignored';
  readonly doc: string;
}

export interface Group<Entries> {
  readonly kind: 'group';
  readonly doc: string;
  readonly entries: Entries;
}

export type Entry = Setting<unknown> | Ignored | AnyGroup;
export interface AnyGroup extends Group<{ readonly [name: string]: Entry }> {}

/** The type of the values that a table of settings describes. */
export type ValueOf<E> =
  E extends Setting<infer T>
    ? T
    : E extends Group<infer S>
      ? { readonly [K in keyof S as S[K] extends Ignored ? never : K]: ValueOf<S[K]> }
      : never;

export type Unit = 'ms' | 'seconds' | 'percent' | 'per second' | 'bytes';

interface Common<T> {
  readonly default: T;
  readonly doc: string;
  readonly aliases?: readonly Alias[];
}

interface Range extends Common<number> {
  readonly min: number;
  readonly max: number;
  readonly unit?: Unit;
}

export const group = <const S extends { readonly [name: string]: Entry }>(
  doc: string,
  entries: S,
): Group<S> => ({ kind: 'group', doc, entries });

export const ignored = (doc: string): Ignored => ({ kind: 'ignored', doc });

export const number = (options: Range): Setting<number> =>
  ranged('number', options, (value) => typeof value === 'number' && Number.isFinite(value));

export const integer = (options: Range): Setting<number> => ranged('integer', options, Number.isSafeInteger);

export function bytes(options: Omit<Range, 'unit'>): Setting<number> {
  const { min, max } = options;
  return make<number>({
    ...options,
    type: 'bytes',
    allowed: `${formatBytes(min)} to ${formatBytes(max)}, as a number of bytes or like "512KB"`,
    read: (value) => {
      const size = typeof value === 'string' ? parseBytes(value) : value;
      return Number.isSafeInteger(size) && (size as number) >= min && (size as number) <= max
        ? (size as number)
        : undefined;
    },
    fromText: (text) => numeric(text) ?? text,
  });
}

export const boolean = (options: Common<boolean>): Setting<boolean> =>
  make<boolean>({
    ...options,
    type: 'boolean',
    allowed: 'true or false',
    read: (value) => (typeof value === 'boolean' ? value : undefined),
    fromText: (text) => (text === 'true' ? true : text === 'false' ? false : text),
  });

export function text(
  options: Common<string> & {
    readonly isSecret?: boolean;
    readonly pattern?: RegExp;
    readonly allowed?: string;
    readonly accepts?: (value: string) => boolean;
  },
): Setting<string> {
  const { pattern, accepts } = options;
  return make<string>({
    ...options,
    type: 'text',
    allowed: options.allowed ?? 'text',
    read: (value) =>
      typeof value === 'string' &&
      value.length <= MAX_TEXT_LENGTH &&
      pattern?.test(value) !== false &&
      accepts?.(value) !== false
        ? value
        : undefined,
    fromText: (value) => value,
  });
}

export const choice = <const C extends string>(
  options: Common<NoInfer<C>> & { readonly choices: readonly C[] },
): Setting<C> =>
  make<C>({
    ...options,
    type: 'choice',
    allowed: options.choices.map((name) => `"${name}"`).join(' or '),
    // A bare 0 in the file means the choice "0".
    read: (value) =>
      options.choices.find((name) => name === (typeof value === 'number' ? String(value) : value)),
    fromText: (value) => value,
  });

/** An address that may carry a password: never shown in a message, and printed without it. */
export function url(options: Common<string> & { readonly schemes: readonly string[] }): Setting<string> {
  const setting = make<string>({
    ...options,
    type: 'text',
    allowed: `an address that starts with ${options.schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    isSecret: true,
    read: (value) =>
      typeof value === 'string' && options.schemes.some((scheme) => isUrl(value, scheme)) ? value : undefined,
    fromText: (value) => value,
  });
  return { ...setting, isSecret: false, conceal: (value) => redactUrl(String(value)) };
}

/** A value for a message. */
export function describe(value: unknown): string {
  if (typeof value === 'string') {
    return value.length > 60 ? `${JSON.stringify(value.slice(0, 60))}…` : JSON.stringify(value);
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : describeType(value);
}

export function describeType(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  if (typeof value === 'object') return 'a table';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}

export function formatBytes(size: number): string {
  for (const [unit, factor] of BYTE_UNITS) {
    if (size >= factor && size % factor === 0) return `${size / factor}${unit}`;
  }
  return `${size}`;
}

const MAX_TEXT_LENGTH = 4096;
const BYTE_UNITS = [
  ['GB', 1024 ** 3],
  ['MB', 1024 ** 2],
  ['KB', 1024],
  ['B', 1],
] as const;

function ranged(type: string, options: Range, isNumber: (value: unknown) => boolean): Setting<number> {
  const { min, max, unit } = options;
  const noun = type === 'integer' ? 'a whole number' : 'a number';
  return make<number>({
    ...options,
    type,
    allowed: `${noun} from ${min} to ${max}${unit === undefined ? '' : ` ${unit}`}`,
    read: (value) =>
      isNumber(value) && (value as number) >= min && (value as number) <= max ? (value as number) : undefined,
    fromText: (value) => numeric(value) ?? value,
  });
}

function make<T>(
  parts: Common<T> & {
    readonly type: string;
    readonly allowed: string;
    readonly isSecret?: boolean;
    /** Undefined means "not allowed". */
    readonly read: (value: unknown) => T | undefined;
    readonly fromText: (text: string) => unknown;
  },
): Setting<T> {
  const isSecret = parts.isSecret ?? false;
  return {
    kind: 'setting',
    type: parts.type,
    default: parts.default,
    doc: parts.doc,
    allowed: parts.allowed,
    aliases: parts.aliases ?? [],
    isRequired: false,
    isSecret,
    read: (value, at, refuse) => {
      const result = parts.read(value);
      if (result !== undefined) return result;
      refuse(
        at,
        `must be ${parts.allowed}, got ${isSecret ? `${describeType(value)} (hidden)` : describe(value)}`,
      );
      return parts.default;
    },
    fromText: parts.fromText,
    conceal: (value) => (isSecret && value !== '' && value !== undefined ? '(set)' : value),
  };
}

const numeric = (value: string): number | undefined =>
  /^[+-]?\d+(_\d+)*(\.\d+)?$/.test(value.trim()) ? Number(value.trim().replaceAll('_', '')) : undefined;

function parseBytes(value: string): number | undefined {
  const [, digits, unit] = /^(\d{1,15})\s?(B|KB|MB|GB)$/i.exec(value.trim()) ?? [];
  const factor = BYTE_UNITS.find(([name]) => name === unit?.toUpperCase())?.[1];
  return factor === undefined ? undefined : Number(digits) * factor;
}

const isUrl = (value: string, scheme: string): boolean =>
  value.length <= MAX_TEXT_LENGTH && value.startsWith(`${scheme}://`) && URL.canParse(value);

function redactUrl(value: string): string {
  if (!URL.canParse(value)) return value === '' ? '' : '(set)';
  const address = new URL(value);
  if (address.password === '' && address.username === '' && address.search === '') return value;
  if (address.password !== '') address.password = '***';
  // Alone before the @, it may be a token.
  else if (address.username !== '') address.username = '***';
  // A query may carry a token.
  if (address.search !== '') address.search = '?***';
  return address.href;
}

export const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
