/** What is published from the schemas: the protocol page, JSON Schema, and validation without code generation. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { Settings } from 'typebox/system';
import { afterEach, describe, expect, it } from 'vitest';
import * as protocol from '../src/index.ts';
import { arbitraryOf } from './arbitrary-of.ts';

describe('docs/protocol.md', () => {
  it('is what printProtocol prints (npm run docs writes it)', () => {
    const page = readFileSync(new URL('../../../docs/protocol.md', import.meta.url), 'utf8');
    expect(page).toBe(protocol.printProtocol());
  });

  it('links only to headings it has', () => {
    const page = protocol.printProtocol();
    const anchors = new Set(
      [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replace(/[^\p{L}\p{N}_ -]/gu, '')
          .replaceAll(' ', '-'),
      ),
    );
    for (const [, anchor] of page.matchAll(/\]\(#([^)]*)\)/g)) expect(anchors).toContain(anchor);
  });
});

describe('docs/protocol.schema.json', () => {
  const text = readFileSync(new URL('../../../docs/protocol.schema.json', import.meta.url), 'utf8');
  const document = JSON.parse(text) as { $schema: string; $defs: Record<string, protocol.JsonSchema> };

  it('is what printJsonSchema prints (npm run docs writes it)', () => {
    expect(text).toBe(protocol.printJsonSchema());
  });

  it('defines every message and body, each with a title and a description', () => {
    expect(document.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(document.$defs).toEqual(protocol.jsonSchemas());
    const silent = Object.entries(document.$defs).filter(
      ([, { title, description }]) => typeof title !== 'string' || typeof description !== 'string',
    );
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it('refers to nothing outside itself', () => {
    expect(text).not.toMatch(/"\$(ref|id|dynamicRef)"/);
  });

  it('is taken by a validator in strict mode, every definition of it', () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false });
    for (const schema of Object.values(document.$defs)) expect(() => ajv.compile(schema)).not.toThrow();
  });

  it('keeps fields that are called like our own keywords', () => {
    const field = { type: 'string', expects: 'a word', extension: true };
    expect(protocol.publishSchema({ properties: { named: field }, const: { named: 1 } })).toEqual({
      properties: { named: { type: 'string', $comment: 'extension' } },
      const: { named: 1 },
    });
  });

  it('is linked from the protocol page', () => {
    expect(protocol.printProtocol()).toContain('](protocol.schema.json)');
  });
});

describe('JSON Schema', () => {
  const schemas = protocol.jsonSchemas();

  it('is published for every message and body', () => {
    for (const { name, messages } of protocol.DIRECTIONS) {
      for (const message of messages) {
        expect(schemas).toHaveProperty([`${name}/${message.properties.type.const}`]);
      }
    }
    for (const name of ['DispatchRequest', 'DispatchReply', 'ErrorReply', 'JobView', 'NodeJobsReply']) {
      expect(schemas).toHaveProperty(name);
    }
  });

  it('marks extensions and leaves unknown fields alone', () => {
    expect(schemas).toHaveProperty(['DispatchRequest', 'properties', 'request_id', '$comment'], 'extension');
    expect(JSON.stringify(schemas)).not.toContain('"additionalProperties":false');
  });

  it('is a copy that can be changed without changing validation', () => {
    const { ErrorReply } = protocol.jsonSchemas();
    (ErrorReply as { required: string[] }).required.length = 0;
    expect(protocol.jsonSchemas()).toHaveProperty(['ErrorReply', 'required', 'length'], 2);
  });
});

describe('where code may not be made from strings', () => {
  afterEach(() => Settings.Reset());

  it('validation gives the same answers', () => {
    for (const { messages } of protocol.DIRECTIONS) {
      for (const schema of messages) {
        const compiled = protocol.validator(schema);
        const interpreted = protocol.validator(schema);
        compiled({});
        Settings.Set({ useAcceleration: false });
        interpreted({});
        Settings.Reset();
        fc.assert(
          fc.property(fc.oneof(arbitraryOf(schema), fc.jsonValue()), (value) => {
            expect(interpreted(value)).toEqual(compiled(value));
          }),
          { numRuns: 20 },
        );
      }
    }
  });
});

it('lists each error code once', () => {
  expect(new Set(protocol.ERROR_CODES).size).toBe(protocol.ERROR_CODES.length);
  expect(protocol.isErrorCode('NO_CAPABLE_NODE')).toBe(true);
  expect(protocol.isErrorCode('constructor')).toBe(false);
});
