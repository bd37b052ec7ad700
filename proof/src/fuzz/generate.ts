/** Values that a schema of the protocol describes, and values that are nearly so. Pure: chance is an argument. */

/** The parts of JSON Schema that the protocol uses. */
export interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly contentEncoding?: string;
}

export type Chance = () => number;

export const oneOf = <T>(chance: Chance, values: readonly T[]): T =>
  values[Math.floor(chance() * values.length)] as T;

const upTo = (chance: Chance, max: number): number => Math.floor(chance() * (max + 1));

/** Few, so that messages name the same nodes, jobs and sessions, and so that nothing grows for a good reason. */
const IDS = Array.from({ length: 24 }, (_, index) => `id-${index}`);
/** As dead letters are named. */
const NUMBERED = ['id-1:1-1', 'id-2:0-0', 'id-1:1763424000000-0'];
const LANGUAGES = ['en', 'zh', 'de', 'zh-CN', 'EN', 'pt_BR'];
const TEXTS = [
  '',
  'hello',
  '你好',
  'x'.repeat(300),
  '<script>alert(1)</script>',
  '\u202Eevil',
  '\u001b[2J',
  'a\'b"c\\d',
];
const AUDIO = ['', 'AAAAAAAAAAA=', 'A'.repeat(4_000), '////'];
/** The largest lists would only repeat what short ones show. */
const FEW = 4;

/** A value that the schema accepts, except for patterns that are not ids or languages. */
export function generate(schema: Schema, chance: Chance, depth = 0): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return oneOf(chance, schema.enum);
  if (schema.anyOf !== undefined && schema.properties === undefined)
    return generate(oneOf(chance, schema.anyOf), chance, depth);
  switch (schema.type) {
    case 'object':
      return generateObject(schema, chance, depth);
    case 'array': {
      const { items = {}, minItems = 0, maxItems = FEW } = schema;
      const length = minItems + upTo(chance, Math.min(FEW, maxItems - minItems));
      return Array.from({ length }, () => generate(items, chance, depth + 1));
    }
    case 'string':
      return generateText(schema, chance);
    case 'integer':
    case 'number':
      return generateNumber(schema, chance);
    case 'boolean':
      return chance() < 0.5;
    default:
      return oneOf<unknown>(chance, [null, 1, 'text', [], {}, { deep: { deeper: [1, 2, 3] } }]);
  }
}

function generateObject(schema: Schema, chance: Chance, depth: number): Record<string, unknown> {
  // An alternative of an object names the fields that it needs.
  const needed = schema.anyOf === undefined ? [] : (oneOf(chance, schema.anyOf).required ?? []);
  const required = new Set([...(schema.required ?? []), ...needed]);
  const made: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(schema.properties ?? {}))
    if (required.has(name) || chance() < 0.4 / (depth + 1)) made[name] = generate(inner, chance, depth + 1);
  if (typeof schema.additionalProperties === 'object')
    for (let count = upTo(chance, 2); count > 0; count -= 1)
      made[oneOf(chance, IDS)] = generate(schema.additionalProperties, chance, depth + 1);
  return made;
}

function generateText({ pattern, maxLength = 300, contentEncoding }: Schema, chance: Chance): string {
  if (contentEncoding === 'base64') return oneOf(chance, AUDIO);
  if (pattern === undefined) return oneOf(chance, TEXTS).slice(0, maxLength);
  if (pattern.includes('{1,35}')) return oneOf(chance, LANGUAGES);
  return oneOf(chance, new RegExp(pattern).test('id-1') ? IDS : NUMBERED);
}

/** Small ones mostly: waits are numbers, too. */
function generateNumber({ minimum = 0, maximum = 1_000, type }: Schema, chance: Chance): number {
  const span = Math.min(maximum - minimum, 20);
  const value = minimum + chance() * Math.max(0, span);
  if (chance() < 0.05) return oneOf(chance, [minimum, maximum]);
  return type === 'integer' ? Math.floor(value) : value;
}

const WRONG: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  Number.MAX_SAFE_INTEGER + 2,
  '',
  'constructor',
  '__proto__',
  'x'.repeat(70_000),
  '\u0000',
  '\ud800',
  [],
  {},
  [[[[[[[[]]]]]]]],
  { toString: 1, valueOf: 2, length: -1 },
];

/** The same value with one part replaced, removed, repeated or added. */
export function distort(value: unknown, chance: Chance): unknown {
  if (Array.isArray(value) && value.length > 0 && chance() < 0.8) {
    const at = upTo(chance, value.length - 1);
    if (chance() < 0.2) return [...value, ...Array.from({ length: 2_000 }, () => value[at])];
    return value.map((item, index) => (index === at ? distort(item, chance) : item));
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const names = Object.keys(value);
    if (names.length > 0 && chance() < 0.8) {
      const name = oneOf(chance, names);
      const { [name]: inner, ...rest } = value as Record<string, unknown>;
      if (chance() < 0.25) return rest;
      return { ...rest, [name]: distort(inner, chance) };
    }
    if (chance() < 0.3) return oneOf(chance, WRONG);
    return Object.fromEntries([
      ...Object.entries(value),
      [oneOf(chance, ['unknown_field', '__proto__', 'constructor', '']), oneOf(chance, WRONG)],
    ]);
  }
  return oneOf(chance, WRONG);
}

const GARBAGE = [
  '',
  'null',
  '[]',
  '""',
  '{',
  '{"type":"constructor"}',
  '{"__proto__":{"type":"x"}}',
  '['.repeat(20_000),
];

/** The text of a message: mostly as the schema says, often nearly so, sometimes garbage. */
export function writeMessage(schema: Schema, chance: Chance): string {
  const value = generate(schema, chance);
  const kind = chance();
  if (kind < 0.5) return JSON.stringify(value);
  const text = JSON.stringify(distort(value, chance)) ?? '';
  if (kind < 0.85) return text;
  if (kind < 0.92) return text.slice(0, upTo(chance, text.length));
  if (kind < 0.96) return text.replace(/"/, oneOf(chance, ["'", '\\', '\u0000', '']));
  return oneOf(chance, GARBAGE);
}
