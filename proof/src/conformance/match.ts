/** Compares a message with a pattern: only the fields of the pattern count. Pure. */

type Check = (value: unknown, wanted: unknown, path: string) => string | undefined;

const shown = (value: unknown): string =>
  (value === undefined ? 'nothing' : JSON.stringify(value)).slice(0, 300);
const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;

/** An object whose only field is one of these is a check instead of a value. */
const CHECKS: Readonly<Record<string, Check>> = {
  $absent: (value, _, path) =>
    value === undefined ? undefined : `${path} must be absent, and is ${shown(value)}`,
  $kind: (value, kind, path) =>
    kindOf(value) === kind ? undefined : `${path} must be a ${kind}, and is ${shown(value)}`,
  $like: (value, pattern, path) =>
    typeof value === 'string' && new RegExp(String(pattern), 'su').test(value)
      ? undefined
      : `${path} must match ${shown(pattern)}, and is ${shown(value)}`,
  $has: (value, items, path) => {
    const missing = (items as unknown[]).filter((item) => !Array.isArray(value) || !value.includes(item));
    return missing.length === 0
      ? undefined
      : `${path} lacks ${missing.map(shown).join(', ')}: ${shown(value)}`;
  },
};

/** The first difference; undefined if the value matches. */
export function findMismatch(pattern: unknown, value: unknown, path = 'the message'): string | undefined {
  if (typeof pattern !== 'object' || pattern === null)
    return pattern === value ? undefined : `${path} must be ${shown(pattern)}, and is ${shown(value)}`;
  if (Array.isArray(pattern)) return findListMismatch(pattern, value, path);
  const [name, ...more] = Object.keys(pattern);
  const check = more.length === 0 ? CHECKS[name ?? ''] : undefined;
  if (check !== undefined) return check(value, Object(pattern)[name as string], path);
  if (kindOf(value) !== 'object') return `${path} must be an object, and is ${shown(value)}`;
  const fields = value as Record<string, unknown>;
  return Object.entries(pattern)
    .map(([field, inner]) =>
      findMismatch(inner, fields[field], path === 'the message' ? field : `${path}.${field}`),
    )
    .find((mismatch) => mismatch !== undefined);
}

function findListMismatch(pattern: readonly unknown[], value: unknown, path: string): string | undefined {
  if (!Array.isArray(value) || value.length !== pattern.length)
    return `${path} must be ${shown(pattern)}, and is ${shown(value)}`;
  return pattern
    .map((item, index) => findMismatch(item, value[index], `${path}[${index}]`))
    .find((mismatch) => mismatch !== undefined);
}
