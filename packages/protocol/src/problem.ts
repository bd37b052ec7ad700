/** Cold path: turns a failed validation into one sentence a person can act on, and the JSON pointer of the field. */
import type { TLocalizedValidationError } from 'typebox/error';

/** What is wrong with an input. Never holds the offending value: it may be long, private or both. */
export type Problem = { path: string; message: string };

const LONGEST_PATH = 256;
const LONGEST_NAME = 64;

const ARTICLES = new Map([
  ['string', 'a string'],
  ['number', 'a finite number'],
  ['integer', 'a whole number'],
  ['boolean', 'true or false'],
  ['object', 'an object'],
  ['array', 'an array'],
]);

export const problem = (path: string, message: string): Problem => ({
  path: path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}…` : path,
  message,
});

/** A key as part of a JSON pointer. */
export const pointerSegment = (key: string | number): string =>
  `/${String(key).slice(0, LONGEST_PATH).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Says what kind of value was found, without repeating it. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : 'a number too large';
  return typeof value === 'boolean' ? 'a boolean' : `a ${typeof value}`;
}

/** The first thing that is wrong, as deep as it can be told. `schema` and `value` are what was compared. */
export function describe(schema: object, value: unknown, errors: TLocalizedValidationError[]): Problem {
  const error = mostTelling(errors);
  if (error === undefined) return problem('', 'the value is not as expected');
  if (error.keyword === 'required') {
    const [missing = ''] = error.params.requiredProperties;
    return problem(error.instancePath + pointerSegment(missing), `${nameOf(`/${missing}`)} is missing`);
  }
  return problem(error.instancePath, `${nameOf(error.instancePath)} ${expectation(schema, value, error)}`);
}

/** Alternatives report each of their own failures first; the deepest of those says most, the alternative itself least. */
function mostTelling(errors: TLocalizedValidationError[]): TLocalizedValidationError | undefined {
  const alternative = errors.find(({ keyword }) => keyword === 'anyOf');
  if (alternative === undefined) return errors[0];
  let deepest = alternative;
  for (const error of errors) {
    if (error.schemaPath.startsWith(`${alternative.schemaPath}/anyOf`)) {
      if (error.instancePath.length > deepest.instancePath.length) deepest = error;
    } else if (error !== alternative) return error;
  }
  return deepest;
}

function expectation(schema: object, value: unknown, error: TLocalizedValidationError): string {
  const rule = resolve(schema, error.schemaPath) as { expects?: unknown; description?: unknown } | undefined;
  const found = resolve(value, error.instancePath);
  switch (error.keyword) {
    case 'type': {
      const types = [error.params.type].flat();
      return `must be ${types.map((type) => ARTICLES.get(type) ?? type).join(' or ')}, not ${kindOf(found)}`;
    }
    case 'const':
      return `must be ${JSON.stringify(error.params.allowedValue)}`;
    case 'enum':
      return `must be one of ${error.params.allowedValues.map((word) => JSON.stringify(word)).join(', ')}`;
    case 'minimum':
    case 'maximum':
      return `must be ${error.params.comparison === '>=' ? 'at least' : 'at most'} ${error.params.limit}`;
    default:
      return typeof rule?.expects === 'string' ? `must be ${rule.expects}` : error.message;
  }
}

const nameOf = (path: string): string => {
  const key = path.slice(path.lastIndexOf('/') + 1);
  return key === '' ? 'the value' : `"${key.slice(0, LONGEST_NAME)}"`;
};

/** Follows a JSON pointer through own properties only. */
function resolve(root: unknown, pointer: string): unknown {
  let at = root;
  for (const segment of pointer.replace(/^#/, '').split('/').slice(1)) {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
