/** Documents published from the schemas: the protocol page and JSON Schema, and validation without code generation. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { Settings } from 'typebox/system';
import { afterEach, describe, expect, it } from 'vitest';
import * as protocol from '../src/index.ts';
import { arbitraryOf } from './arbitrary-of.ts';

describe('docs/protocol.md', () => {
  it('docs/protocol.md equals the output of printProtocol (run npm run docs)', () => {
    const page = readFileSync(new URL('../../../docs/protocol.md', import.meta.url), 'utf8');
    expect(page).toBe(protocol.printProtocol());
  });

  it('the page links only to its own headings', () => {
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

  it('the schema file equals the output of printJsonSchema (run npm run docs)', () => {
    expect(text).toBe(protocol.printJsonSchema());
  });

  it('every message and body has a title and a description', () => {
    expect(document.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(document.$defs).toEqual(protocol.jsonSchemas());
    const silent = Object.entries(document.$defs).filter(
      ([, { title, description }]) => typeof title !== 'string' || typeof description !== 'string',
    );
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it('the schema document has no external references', () => {
    expect(text).not.toMatch(/"\$(ref|id|dynamicRef)"/);
  });

  it('a strict validator accepts every definition', () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false });
    for (const schema of Object.values(document.$defs)) expect(() => ajv.compile(schema)).not.toThrow();
  });

  it('fields named like our own keywords are kept', () => {
    const field = { type: 'string', expects: 'a word', extension: true };
    expect(protocol.publishSchema({ properties: { named: field }, const: { named: 1 } })).toEqual({
      properties: { named: { type: 'string', $comment: 'extension' } },
      const: { named: 1 },
    });
  });

  it('the protocol page links the schema document', () => {
    expect(protocol.printProtocol()).toContain('](protocol.schema.json)');
  });
});

describe('published JSON Schema', () => {
  const schemas = protocol.jsonSchemas();

  it('every message and body is published', () => {
    for (const { name, messages } of protocol.DIRECTIONS) {
      for (const message of messages) {
        expect(schemas).toHaveProperty([`${name}/${message.properties.type.const}`]);
      }
    }
    for (const name of ['DispatchRequest', 'DispatchReply', 'ErrorReply', 'JobView', 'NodeJobsReply']) {
      expect(schemas).toHaveProperty(name);
    }
  });

  it('extensions are marked, and unknown fields are allowed', () => {
    expect(schemas).toHaveProperty(['DispatchRequest', 'properties', 'request_id', '$comment'], 'extension');
    expect(JSON.stringify(schemas)).not.toContain('"additionalProperties":false');
  });

  it('the published schema is a copy', () => {
    const { ErrorReply } = protocol.jsonSchemas();
    (ErrorReply as { required: string[] }).required.length = 0;
    expect(protocol.jsonSchemas()).toHaveProperty(['ErrorReply', 'required', 'length'], 2);
  });
});

describe('without code generation', () => {
  afterEach(() => Settings.Reset());

  it('interpreted validation gives the same results', () => {
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

it('each error code is listed once', () => {
  expect(new Set(protocol.ERROR_CODES).size).toBe(protocol.ERROR_CODES.length);
  expect(protocol.isErrorCode('NO_CAPABLE_NODE')).toBe(true);
  expect(protocol.isErrorCode('constructor')).toBe(false);
});
