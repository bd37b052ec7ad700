/** Text from outside becomes a clean value or a refusal. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonFault } from '../src/find-json-fault.ts';
import { MAX_FIELDS, MAX_NESTING, MAX_VALUES, parseJson } from '../src/index.ts';

const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);

describe('null in JSON', () => {
  it('null means absent in objects at any depth', () => {
    expect(parseJson('{"a":null,"b":{"c":null,"d":[{"e":null,"f":1}]}}')).toEqual({
      ok: true,
      value: { b: { d: [{ f: 1 }] } },
    });
  });

  it('null stays in arrays, because removal would move the others', () => {
    expect(parseJson('{"a":[1,null,2]}')).toEqual({ ok: true, value: { a: [1, null, 2] } });
  });

  it('only nulls are removed from the objects of arbitrary JSON', () => {
    const withoutNulls = (_: string, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value).filter(([key, field]) => field !== null && key !== '__proto__'),
          )
        : value;
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text, withoutNulls) });
      }),
    );
  });
});

describe('keys that reach prototypes', () => {
  it.each([
    '{"__proto__":{"polluted":true}}',
    '{"\\u005f_proto_\\u005f":{"polluted":true}}',
    '{"a":{"__proto__":{"polluted":true}}}',
    '{"a":[{"__proto__":"polluted"}]}',
    '{"__proto__":null}',
    '{"constructor":{"prototype":{"polluted":true}}}',
  ])('%s changes no prototype', (text) => {
    const parsed = parseJson(text);
    expect(parsed.ok).toBe(true);
    expect(JSON.stringify(parsed)).not.toContain('__proto__');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('limits of JSON input', () => {
  const list = (length: number) => `[${Array.from({ length }, () => '1').join(',')}]`;
  const object = (width: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: width }, (_, index) => [`k${index}`, 1])));

  it('more values than a large registration has are refused unparsed', () => {
    expect(parseJson(list(MAX_VALUES)).ok).toBe(true);
    expect(parseJson(`{"a":${list(MAX_VALUES + 1)}`)).toEqual({
      ok: false,
      problem: { path: '', message: 'there are more than 50000 values' },
    });
  });

  it('long text and audio are accepted, whatever they contain', () => {
    expect(parseJson(JSON.stringify({ text: 'well, '.repeat(8_000), audio: 'A'.repeat(4_000_000) })).ok).toBe(
      true,
    );
  });

  it('an object with too many fields is named', () => {
    expect(parseJson(`{"a":{"b":${object(MAX_FIELDS)}}}`).ok).toBe(true);
    expect(parseJson(`{"a":{"b":${object(MAX_FIELDS + 1)}}}`)).toEqual({
      ok: false,
      problem: { path: '/a/b', message: 'there are more than 2048 fields in one object' },
    });
  });

  it('nesting is accepted up to the limit, and refused with its place', () => {
    expect(parseJson(nested(MAX_NESTING, '[', ']')).ok).toBe(true);
    expect(parseJson(nested(MAX_NESTING + 1, '[', ']'))).toEqual({
      ok: false,
      problem: { path: '/0'.repeat(MAX_NESTING), message: 'nested deeper than 32 levels' },
    });
  });

  it.each([
    ['arrays', nested(100_000, '[', ']')],
    ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['unclosed arrays', '['.repeat(100_000)],
  ])('100,000 levels of %s are refused', (_, text) => {
    expect(parseJson(text).ok).toBe(false);
  });

  it.each(['1e400', '-1e400', '{"a":{"b/c":[0,1e999]}}'])('the number %s is too large', (text) => {
    expect(parseJson(text)).toMatchObject({ ok: false, problem: { message: 'a number is too large' } });
  });

  it('the place of a number is a JSON pointer', () => {
    expect(parseJson('{"a":{"b/c~":[0,1e999]}}')).toHaveProperty('problem.path', '/a/b~1c~0/1');
  });

  it('the path of a problem stays short for long keys', () => {
    const parsed = parseJson(JSON.stringify({ ['k'.repeat(100_000)]: 0 }).replace(':0', ':1e999'));
    expect(parsed.ok ? '' : parsed.problem.path.length).toBeLessThan(300);
  });
});

it('invalid JSON is refused without repeating it', () => {
  for (const text of ['', 'secret', '{"a":', '{a:1}', '\u0000', '[1,]']) {
    const parsed = parseJson(text);
    expect(parsed).toMatchObject({ ok: false, problem: { path: '' } });
    expect(parsed.ok ? '' : parsed.problem.message).toMatch(
      /^the text is not valid JSON: it (is wrong|ends too early) at line 1, column \d+$/,
    );
  }
});

describe('malformed JSON says where', () => {
  it.each([
    ['', 'ends too early at line 1, column 1'],
    ['{"a": 1,\n  "b" 2}', 'is wrong at line 2, column 7'],
    ['{"a":', 'ends too early at line 1, column 6'],
    ['{a:1}', 'is wrong at line 1, column 2'],
    ['[1,]', 'is wrong at line 1, column 4'],
    ['{"a": 1,}', 'is wrong at line 1, column 9'],
    ['{"a": \'x\'}', 'is wrong at line 1, column 7'],
    ['{"a": "x', 'is wrong at line 1, column 7'],
    ['{"a": 01}', 'is wrong at line 1, column 8'],
    ['{} x', 'is wrong at line 1, column 4'],
    ['[1}', 'is wrong at line 1, column 3'],
  ])('%j %s', (text, where) => {
    const parsed = parseJson(text);
    expect(parsed.ok ? '' : parsed.problem.message).toBe(`the text is not valid JSON: it ${where}`);
  });

  it('finds no fault in valid JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat({ max: 4 }), (text, indent) => {
        const pretty = JSON.stringify(JSON.parse(text), null, indent);
        expect(findJsonFault(pretty)).toBe(pretty.length);
      }),
    );
  });

  it('finds the fault behind megabytes of audio', () => {
    const text = `{"audio":"${'A'.repeat(8_000_000)}" "x":1}`;
    expect(findJsonFault(text)).toBe(text.indexOf(' "x"') + 1);
  });
});

it('arbitrary text never throws', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      parseJson(text);
    }),
  );
});
