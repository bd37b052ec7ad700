/** Which terms of a glossary a job gets. */
import { describe, expect, it } from 'vitest';
import { type GlossaryTerm, MOST_TERMS_OF_JOB, termsFor } from '../../src/domain/glossary.ts';

const term = (pair: string, source: string): GlossaryTerm => {
  const [from = '', to = ''] = pair.split('>');
  return { from, to, source, target: `${source} (${to})` };
};
const TERMS = [term('en>de', 'slot'), term('en>de', 'Lease'), term('en>fr', 'slot'), term('de>en', 'Platz')];

const found = (spec: Partial<Parameters<typeof termsFor>[1]>, terms = TERMS): string[] =>
  termsFor(
    { glossaryId: 'g', terms, changedAt: 0 },
    { sourceLanguage: 'en', targetLanguage: 'de', ...spec },
  ).map(({ target }) => target);

describe('the terms of a job', () => {
  it('are those of its languages', () => {
    expect(found({})).toEqual(['slot (de)', 'Lease (de)']);
    expect(found({ targetLanguage: 'fr' })).toEqual(['slot (fr)']);
    expect(found({ sourceLanguage: 'fr' })).toEqual([]);
  });

  it('are those that occur in its text, upper or lower case', () => {
    expect(found({ inputText: 'a LEASE is renewed' })).toEqual(['Lease (de)']);
    expect(found({ inputText: 'nothing of it' })).toEqual([]);
  });

  it('are those into the target if the language is recognised by the node', () => {
    expect(found({ sourceLanguage: 'auto' })).toEqual(['slot (de)', 'Lease (de)']);
  });

  it('are those of both directions if either of two people may speak', () => {
    const twoWay = { sourceLanguage: 'auto', targetLanguage: 'de', languageA: 'en', languageB: 'de' };
    expect(found(twoWay)).toEqual(['slot (de)', 'Lease (de)', 'Platz (en)']);
  });

  it('are bounded (I11)', () => {
    const many = Array.from({ length: 3 * MOST_TERMS_OF_JOB }, (_, at) => term('en>de', `t${at}`));
    expect(found({}, many)).toHaveLength(MOST_TERMS_OF_JOB);
  });
});
