import { describe, expect, it } from 'vitest';
import { missingIn } from '../../../src/cli/simulated-client/offered-languages.ts';

describe('the languages of a room', () => {
  it('are served if each is translated into all others', () => {
    expect(missingIn(new Map(Object.entries({ en: ['es', 'fr'], es: ['en'] })))).toEqual([]);
    expect(missingIn(new Map([['en', []]]))).toEqual([]);
  });

  it('an unknown one is named once, with those that are offered', () => {
    expect(missingIn(new Map(Object.entries({ en: ['fr', 'es'], es: ['en', 'fr'], xx: [] })))).toEqual([
      'no node translates into xx now; offered: en, es, fr',
    ]);
  });

  it('a missing direction is named with what is offered for its source', () => {
    expect(missingIn(new Map(Object.entries({ en: ['es', 'de'], es: ['en', 'de'], de: ['en'] })))).toEqual([
      'no node translates de into es now; offered for de: en',
    ]);
  });
});
