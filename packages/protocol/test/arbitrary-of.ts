/** Builds fast-check arbitraries from schemas: matching values, and values that are wrong in one known place. */
import fc from 'fast-check';
import type { TSchema } from 'typebox';

export type Rule = {
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
  additionalProperties?: Rule;
  anyOf?: Rule[];
};

/** Values that match the schema; full ones have every optional field and no empty list. */
export function arbitraryOf(schema: TSchema, { full = false } = {}): fc.Arbitrary<unknown> {
  const rule = schema as Rule;
  if ('const' in rule) return fc.constant(rule.const);
  if (rule.enum !== undefined) return fc.constantFrom(...rule.enum);
  if (rule.type === undefined && rule.anyOf !== undefined)
    return fc.oneof(...rule.anyOf.map((each) => arbitraryOf(each as TSchema, { full })));
  switch (rule.type) {
    case 'string':
      return rule.pattern === undefined
        ? fc.string({ maxLength: Math.min(rule.maxLength ?? 40, 40) })
        : fc.stringMatching(new RegExp(rule.pattern), { size: 'xsmall' });
    case 'integer':
      return fc.maxSafeInteger().map((drawn) => within(drawn, rule));
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((drawn) => within(drawn, rule));
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(arbitraryOf(rule.items as TSchema, { full }), {
        minLength: rule.minItems ?? (full ? 1 : 0),
        maxLength: Math.min(rule.maxItems ?? 3, 3),
      });
    case 'object':
      return rule.additionalProperties === undefined ? record(rule, full) : dictionary(rule, full);
    default:
      return fc.jsonValue().filter((value) => value !== null);
  }
}

function record(rule: Rule, full: boolean): fc.Arbitrary<unknown> {
  const fields = Object.entries(rule.properties ?? {}).map(
    ([name, field]) => [name, arbitraryOf(field, { full })] as const,
  );
  const needed = rule.anyOf?.[0]?.required ?? [];
  const requiredKeys = [...(rule.required ?? []), ...needed];
  return fc.record(Object.fromEntries(fields), full ? {} : { requiredKeys });
}

function dictionary(rule: Rule, full: boolean): fc.Arbitrary<unknown> {
  const entry = arbitraryOf(rule.additionalProperties as TSchema, { full });
  return full
    ? fc.record({ key: entry })
    : fc.dictionary(fc.string({ maxLength: 20 }), entry, { maxKeys: 4 });
}

const within = (drawn: number, { minimum = -(2 ** 53) + 1, maximum = 2 ** 53 - 1 }: Rule): number =>
  Math.min(maximum, Math.max(minimum, drawn));

/** A place in a schema that can get a wrong value: its JSON pointer segments and its rule. */
export type Place = { segments: (string | number)[]; rule: Rule };

/** Every field at any depth; one item represents a list or map. */
export function places(schema: TSchema, segments: (string | number)[] = []): Place[] {
  const rule = schema as Rule;
  const here: Place[] = segments.length === 0 ? [] : [{ segments, rule }];
  for (const [name, field] of Object.entries(rule.properties ?? {}))
    here.push(...places(field, [...segments, name]));
  if (rule.items !== undefined) here.push(...places(rule.items, [...segments, 0]));
  if (rule.additionalProperties !== undefined)
    here.push(...places(rule.additionalProperties, [...segments, 'key']));
  return here;
}

/** Values of another type than the rule expects; none if it accepts anything. */
export function wrongValues(rule: Rule): unknown[] {
  const candidates = ['text', 7, 1.5, true, {}, [], 1e300];
  const right = new Map<string | undefined, (value: unknown) => boolean>([
    ['string', (value) => typeof value === 'string'],
    ['integer', Number.isInteger],
    ['number', Number.isFinite],
    ['boolean', (value) => typeof value === 'boolean'],
    ['array', Array.isArray],
    ['object', (value) => typeof value === 'object' && !Array.isArray(value)],
  ]).get(rule.type ?? typeof rule.const);
  return right === undefined
    ? []
    : candidates.filter((value) => !right(value)).concat(rule.enum ? ['no such word'] : []);
}

/** A copy with another value at an existing place. */
export function put(root: unknown, segments: (string | number)[], value: unknown): unknown {
  const copy = structuredClone(root) as Record<string | number, unknown>;
  const [last] = segments.slice(-1);
  let owner = copy;
  for (const segment of segments.slice(0, -1)) owner = owner[segment] as typeof owner;
  owner[last as string | number] = value;
  return copy;
}
