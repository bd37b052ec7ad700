import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readLanguages } from '../../../src/domain/needed-directions.ts';
import { createLanguageReader } from '../../../src/transport/wire/language-reader.ts';

const TAG = fc.constantFrom('en', 'EN-us', 'zh', 'zh_CN', 'auto', 'de', ' de ');
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });

it('a cached read equals an uncached one', () => {
  const named = fc.record({
    src_lang: TAG,
    tgt_lang: TAG,
    mode: maybe(fc.constantFrom('one_way', 'two_way_auto')),
    lang_a: maybe(TAG),
    lang_b: maybe(TAG),
    auto_langs: maybe(fc.array(TAG, { maxLength: 3 })),
  });
  fc.assert(
    fc.property(fc.array(named, { maxLength: 20 }), (requests) => {
      const read = createLanguageReader();
      for (const each of requests) expect(read(each)).toEqual(readLanguages(each));
    }),
  );
});

it('I11 bounded: a pair is cached until too many others were read', () => {
  const read = createLanguageReader();
  const first = read({ src_lang: 'en', tgt_lang: 'zh' });
  expect(read({ src_lang: 'en', tgt_lang: 'zh' })).toBe(first);
  for (let at = 0; at < 2_048; at++) read({ src_lang: `x${at % 50}`, tgt_lang: `y${at}` });
  const again = read({ src_lang: 'en', tgt_lang: 'zh' });
  expect(again).not.toBe(first);
  expect(again).toEqual(first);
});
