/** Text from outside becomes a clean value or a refusal, whatever it holds. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_FIELDS, MAX_NESTING, MAX_VALUES, parseJson } from '../src/index.ts';

const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);

describe('null', () => {
  it('means absent in objects at any depth', () => {
    expect(parseJson('{"a":null,"b":{"c":null,"d":[{"e":null,"f":1}]}}')).toEqual({
      ok: true,
      value: { b: { d: [{ f: 1 }] } },
    });
  });

  it('stays in arrays, where taking it out would move the others', () => {
    expect(parseJson('{"a":[1,null,2]}')).toEqual({ ok: true, value: { a: [1, null, 2] } });
  });

  it('is gone from every object of arbitrary JSON, and nothing else is', () => {
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
  ])('change no prototype: %s', (text) => {
    const parsed = parseJson(text);
    expect(parsed.ok).toBe(true);
    expect(JSON.stringify(parsed)).not.toContain('__proto__');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('limits', () => {
  const list = (length: number) => `[${Array.from({ length }, () => '1').join(',')}]`;
  const object = (width: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: width }, (_, index) => [`k${index}`, 1])));

  it('takes as many values as the largest registration has, and does not even parse more', () => {
    expect(parseJson(list(MAX_VALUES)).ok).toBe(true);
    expect(parseJson(`{"a":${list(MAX_VALUES + 1)}`)).toEqual({
      ok: false,
      problem: { path: '', message: 'there are more than 50000 values' },
    });
  });

  it('takes long text and audio whatever they hold', () => {
    expect(parseJson(JSON.stringify({ text: 'well, '.repeat(8_000), audio: 'A'.repeat(4_000_000) })).ok).toBe(
      true,
    );
  });

  it('names the object that has too many fields', () => {
    expect(parseJson(`{"a":{"b":${object(MAX_FIELDS)}}}`).ok).toBe(true);
    expect(parseJson(`{"a":{"b":${object(MAX_FIELDS + 1)}}}`)).toEqual({
      ok: false,
      problem: { path: '/a/b', message: 'there are more than 2048 fields in one object' },
    });
  });

  it('takes the deepest allowed nesting and refuses the next level with its place', () => {
    expect(parseJson(nested(MAX_NESTING, '[', ']')).ok).toBe(true);
    expect(parseJson(nested(MAX_NESTING + 1, '[', ']'))).toEqual({
      ok: false,
      problem: { path: '/0'.repeat(MAX_NESTING), message: 'nested deeper than 32 levels' },
    });
  });

  it.each([
    ['arrays', nested(100_000, '[', ']')],
    ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['arrays that never close', '['.repeat(100_000)],
  ])('refuses 100,000 levels of %s', (_, text) => {
    expect(parseJson(text).ok).toBe(false);
  });

  it.each(['1e400', '-1e400', '{"a":{"b/c":[0,1e999]}}'])(
    'refuses a number too large to hold: %s',
    (text) => {
      expect(parseJson(text)).toMatchObject({ ok: false, problem: { message: 'a number is too large' } });
    },
  );

  it('says where the number is, as a JSON pointer', () => {
    expect(parseJson('{"a":{"b/c~":[0,1e999]}}')).toHaveProperty('problem.path', '/a/b~1c~0/1');
  });

  it('keeps the path of a problem short, however long the keys', () => {
    const parsed = parseJson(JSON.stringify({ ['k'.repeat(100_000)]: 0 }).replace(':0', ':1e999'));
    expect(parsed.ok ? '' : parsed.problem.path.length).toBeLessThan(300);
  });
});

it('refuses text that is not JSON without repeating it', () => {
  for (const text of ['', 'secret', '{"a":', '{a:1}', '\u0000', '[1,]']) {
    expect(parseJson(text)).toEqual({
      ok: false,
      problem: { path: '', message: 'the text is not valid JSON' },
    });
  }
});

it('never throws on arbitrary text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      parseJson(text);
    }),
  );
});
