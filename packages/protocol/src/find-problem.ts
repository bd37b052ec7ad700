/**
 * Cold path: the first problem of a value that did not match its schema. TypeBox can list errors, too, but visits the
 * whole value: five megabytes of invalid input would block the process for seconds. This stops at the first problem,
 * and checks the size of a list or map before its contents.
 */
import { kindOf, nameOf, type Problem, pointerSegment, problem } from './problem.ts';

/** The part of JSON Schema that this package uses. */
type Rule = {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  pattern?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Rule;
  minItems?: number;
  maxItems?: number;
  required?: string[];
  properties?: Record<string, Rule>;
  maxProperties?: number;
  propertyNames?: Rule;
  additionalProperties?: Rule | boolean;
  anyOf?: Rule[];
  /** Describes a pattern or an alternative in words. */
  expects?: string;
};

/** Recursion follows the schema, not the value, so a hostile value cannot make it deep. */
export function findProblem(schema: object, value: unknown, path = ''): Problem | undefined {
  const rule = schema as Rule;
  const wrong = (expected: string) => problem(path, `${nameOf(path)} ${expected}`);

  const kind = wrongKind(rule, value);
  if (kind !== undefined) return wrong(kind);
  if (typeof value === 'string' || typeof value === 'number') {
    const bound = outOfBounds(rule, value);
    if (bound !== undefined) return wrong(bound);
  }
  if (Array.isArray(value)) {
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = rule;
    if (value.length < minItems) return wrong(`must have at least ${minItems} items, not ${value.length}`);
    if (value.length > maxItems) return wrong(`must have at most ${maxItems} items, not ${value.length}`);
    const inside = inItems(rule, value, path);
    if (inside !== undefined) return inside;
  } else if (typeof value === 'object' && value !== null) {
    const inside = inFields(rule, value as Record<string, unknown>, path);
    if (inside !== undefined) return inside;
  }
  return rule.anyOf === undefined ? undefined : inAlternatives(rule.anyOf, rule.expects, value, path);
}

const KINDS = new Map<string, { words: string; admits: (value: unknown) => boolean }>([
  ['string', { words: 'a string', admits: (value) => typeof value === 'string' }],
  ['number', { words: 'a finite number', admits: Number.isFinite }],
  ['integer', { words: 'a whole number', admits: Number.isInteger }],
  ['boolean', { words: 'true or false', admits: (value) => typeof value === 'boolean' }],
  ['array', { words: 'an array', admits: Array.isArray }],
  [
    'object',
    {
      words: 'an object',
      admits: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    },
  ],
]);

function wrongKind(rule: Rule, value: unknown): string | undefined {
  const kind = KINDS.get(rule.type ?? '');
  if (kind !== undefined && !kind.admits(value)) {
    const found = rule.type === 'integer' && Number.isFinite(value) ? 'a fraction' : kindOf(value);
    return `must be ${kind.words}, not ${found}`;
  }
  if ('const' in rule && value !== rule.const) return `must be ${JSON.stringify(rule.const)}`;
  if (rule.enum !== undefined && !rule.enum.includes(value)) {
    return `must be one of ${rule.enum.map((word) => JSON.stringify(word)).join(', ')}`;
  }
  return undefined;
}

function outOfBounds(rule: Rule, value: string | number): string | undefined {
  if (typeof value === 'number') {
    if (rule.minimum !== undefined && value < rule.minimum) return `must be at least ${rule.minimum}`;
    if (rule.maximum !== undefined && value > rule.maximum) return `must be at most ${rule.maximum}`;
    return undefined;
  }
  if (rule.maxLength !== undefined && isLonger(value, rule.maxLength)) {
    return `must have at most ${rule.maxLength} characters`;
  }
  if (rule.pattern !== undefined && !new RegExp(rule.pattern, 'u').test(value)) {
    return `must be ${rule.expects ?? `text that matches ${rule.pattern}`}`;
  }
  return undefined;
}

/** JSON Schema counts characters, not UTF-16 units; a character has at most two units. */
const isLonger = (text: string, limit: number): boolean =>
  text.length > 2 * limit || (text.length > limit && [...text].length > limit);

function inItems(rule: Rule, items: unknown[], path: string): Problem | undefined {
  if (rule.items === undefined) return undefined;
  for (const [index, item] of items.entries()) {
    const found = findProblem(rule.items, item, path + pointerSegment(index));
    if (found !== undefined) return found;
  }
  return undefined;
}

function inFields(rule: Rule, fields: Record<string, unknown>, path: string): Problem | undefined {
  for (const name of rule.required ?? []) {
    if (!Object.hasOwn(fields, name)) return problem(path + pointerSegment(name), `"${name}" is missing`);
  }
  for (const [name, field] of Object.entries(rule.properties ?? {})) {
    if (!Object.hasOwn(fields, name) || (fields[name] === undefined && !rule.required?.includes(name)))
      continue;
    const found = findProblem(field, fields[name], path + pointerSegment(name));
    if (found !== undefined) return found;
  }
  const { maxProperties = Number.POSITIVE_INFINITY, propertyNames, additionalProperties } = rule;
  const keys = Object.keys(fields);
  if (keys.length > maxProperties) {
    return problem(path, `${nameOf(path)} must have at most ${maxProperties} entries, not ${keys.length}`);
  }
  if (typeof additionalProperties !== 'object') return undefined;
  for (const key of keys) {
    const at = path + pointerSegment(key);
    const found =
      (propertyNames && findProblem(propertyNames, key, at)) ??
      findProblem(additionalProperties, fields[key], at);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Reports the alternative that matched furthest; if none matched at all, the general expectation. */
function inAlternatives(
  rules: Rule[],
  expects: string | undefined,
  value: unknown,
  path: string,
): Problem | undefined {
  const general = `${nameOf(path)} must be ${expects ?? 'one of the alternatives the protocol allows'}`;
  const requiredNames: string[] = [];
  let deepest = problem(path, general);
  for (const rule of rules) {
    const found = findProblem(rule, value, path);
    if (found === undefined) return undefined;
    if (rule.type === undefined) requiredNames.push(...(rule.required ?? []));
    else if (found.path.length > deepest.path.length) deepest = found;
  }
  const [first] = requiredNames;
  // Where one of several fields is enough, the first one represents all.
  return first === undefined || deepest.path !== path
    ? deepest
    : problem(
        path + pointerSegment(first),
        `${requiredNames.map((name) => `"${name}"`).join(' or ')} is missing${expects === undefined ? '' : `: ${expects}`}`,
      );
}
