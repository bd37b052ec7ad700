/** Laws that hold for every schema of the protocol. */
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { HTTP_ENDPOINTS } from '../src/http/endpoints.ts';
import { ErrorReply } from '../src/http/error-reply.ts';
import { DIRECTIONS } from '../src/json-schemas.ts';
import { validator } from '../src/validator.ts';
import { arbitraryOf, places, put, type Rule, wrongValues } from './arbitrary-of.ts';

const named = new Map<string, TSchema>();
for (const { name, messages } of DIRECTIONS) {
  for (const message of messages) named.set(`${name}/${message.properties.type.const}`, message);
}
for (const { params, query, body, reply } of HTTP_ENDPOINTS) {
  for (const schema of [params, query, body, reply, ErrorReply]) {
    if (schema !== undefined) named.set((schema as { title: string }).title, schema);
  }
}

/** Rules for objects and list items that must hold everywhere in a schema. */
function* rules(
  rule: Rule,
  path: string,
): Generator<[string, Rule & { description?: string; title?: string }]> {
  yield [path, rule];
  for (const [name, field] of Object.entries(rule.properties ?? {})) yield* rules(field, `${path}/${name}`);
  if (rule.items !== undefined) yield* rules(rule.items, `${path}/0`);
  if (rule.additionalProperties !== undefined) yield* rules(rule.additionalProperties, `${path}/*`);
}

describe.each([...named])('%s', (name, schema) => {
  const validate = validator(schema);

  it('generated values are accepted', () => {
    fc.assert(
      fc.property(arbitraryOf(schema), (value) => {
        expect(validate(value)).toEqual({ ok: true, value });
      }),
      { numRuns: 50 },
    );
  });

  it('the place of a wrong value is named at any depth', () => {
    fc.assert(
      fc.property(arbitraryOf(schema, { full: true }), (value) => {
        for (const { segments, rule } of places(schema)) {
          for (const wrong of wrongValues(rule)) {
            const answer = validate(put(value, segments, wrong));
            const path = segments.map((segment) => `/${segment}`).join('');
            expect(answer).toMatchObject({ ok: false, problem: { path } });
            expect(answer).toHaveProperty('problem.message', expect.stringContaining(' must be '));
          }
        }
      }),
      { numRuns: 2 },
    );
  });

  it('a missing required field is named', () => {
    for (const field of (schema as Rule).required ?? []) {
      const [value] = fc.sample(arbitraryOf(schema), 1);
      const { [field]: _, ...rest } = value as Record<string, unknown>;
      expect(validate(rest)).toEqual({
        ok: false,
        problem: { path: `/${field}`, message: `"${field}" is missing` },
      });
    }
  });

  it('unknown fields are ignored', () => {
    fc.assert(
      fc.property(arbitraryOf(schema), fc.jsonValue(), (value, unknown) => {
        expect(validate({ ...(value as object), zzz_unknown: unknown }).ok).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it('every string, number and list is bounded', () => {
    for (const [path, rule] of rules(schema as Rule, name)) {
      if ('const' in rule || rule.enum !== undefined) continue;
      if (rule.type === 'string' && !('contentEncoding' in rule)) {
        expect(rule.maxLength ?? rule.pattern, path).toBeDefined();
      }
      if (rule.type === 'number' || rule.type === 'integer') {
        expect(Math.abs(rule.minimum ?? Infinity), path).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
        expect(rule.maximum ?? Infinity, path).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
      }
      if (rule.type === 'array') expect(rule.maxItems, path).toBeDefined();
    }
  });

  it('the schema and its fields are described', () => {
    for (const [path, rule] of rules(schema as Rule, name)) {
      if (!('const' in rule) && !path.endsWith('/0')) expect(rule.description, path).toBeTruthy();
    }
  });

  it('infinite numbers are refused', () => {
    const [value] = fc.sample(arbitraryOf(schema, { full: true }), 1);
    for (const { segments, rule } of places(schema)) {
      if (rule.type !== 'number' && rule.type !== 'integer') continue;
      for (const bad of [Infinity, -Infinity, NaN]) {
        expect(validate(put(value, segments, bad))).toMatchObject({
          ok: false,
          problem: { path: `/${segments.join('/')}` },
        });
      }
    }
  });

  it('arbitrary JSON never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        validate(value);
      }),
      { numRuns: 50 },
    );
  });
});
