import { describe, expect, it } from 'vitest';
import { repair } from '../../src/repair/repair.ts';

describe('semantic repair', () => {
  it.each([
    ['en', 'i am  here , and i see', 'I am here, and I see.'],
    ['en', 'The the dog', 'The dog.'],
    ['en', 'He had had that that I wanted.', 'He had had that that I wanted.'],
    ['en', 'twenty-five percent of one hundred and five', '25% of 105.'],
    ['en', 'two thousand and twenty six', '2026.'],
    ['en', 'three hundred thousand', '300000.'],
    ['en', 'nineteen eighty four', 'Nineteen eighty four.'],
    ['en', 'five five five', 'Five five five.'],
    ['en', 'one dog and two cats', 'One dog and two cats.'],
    ['en', 'Where is it?', 'Where is it?'],
    ['es', '¿dónde está?', '¿Dónde está?'],
    ['es', 'dónde está?', '¿Dónde está?'],
    ['de', 'ich  weiß', 'ich  weiß'],
    ['en', '', ''],
  ])('%s: %j becomes %j', (language, text, expected) => {
    expect(repair(text, language).text).toBe(expected);
    expect(repair(expected, language)).toEqual({ text: expected, rules: [] });
  });
});
