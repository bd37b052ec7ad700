/** Cold path: describes the problems of an input. */

/** One problem. Never contains the invalid value: it may be long, private or both. */
export type Problem = {
  /** JSON pointer of the invalid field; empty for the whole value. */
  path: string;
  message: string;
};

const LONGEST_PATH = 256;
const LONGEST_NAME = 64;

export const problem = (path: string, message: string): Problem => ({
  path: path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}…` : path,
  message,
});

/** A key as part of a JSON pointer. */
export const pointerSegment = (key: string | number): string =>
  `/${String(key).slice(0, LONGEST_PATH).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** The name of a JSON pointer's field for a sentence. */
export function nameOf(path: string): string {
  const [last = '', owner] = path.split('/').slice(1).reverse();
  if (last === '') return 'the value';
  if (/^\d+$/.test(last) && owner !== undefined) return `item ${last} of ${quoted(owner)}`;
  return quoted(last);
}

const quoted = (segment: string): string =>
  `"${segment.slice(0, LONGEST_NAME).replaceAll('~1', '/').replaceAll('~0', '~')}"`;

/** The kind of a value, without the value itself. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : 'a number too large';
  return typeof value === 'boolean' ? 'a boolean' : `a ${typeof value}`;
}
