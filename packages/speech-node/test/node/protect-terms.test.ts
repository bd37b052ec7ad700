/** Terms of a glossary pass a translator unchanged and come back as their prescribed translations. */
import { describe, expect, it } from 'vitest';
import { protectTerms } from '../../src/node/protect-terms.ts';

const TERMS = [
  { source: 'slot', target: 'ranura' },
  { source: 'slot cover', target: 'tapa' },
  { source: 'C++', target: 'C++' },
  { source: 'año', target: 'year' },
];

describe('terms in a text', () => {
  it('are whole words, upper or lower case, the longest first', () => {
    const { text, used, restore } = protectTerms('The Slot  cover of a SLOT, not of slots.', TERMS);
    expect(used).toEqual(['slot cover', 'slot']);
    expect(text).toMatch(/^The \w+ of a \w+, not of slots\.$/);
    expect(restore(text)).toBe('The tapa of a ranura, not of slots.');
  });

  it('may have signs and letters of any language', () => {
    const { text, used, restore } = protectTerms('C++ de un año (año)', TERMS);
    expect(used).toEqual(['C++', 'año']);
    expect(restore(text)).toBe('C++ de un year (year)');
  });

  it('are found although the translator changed their case', () => {
    const { text, restore } = protectTerms('slot', TERMS);
    expect(restore(text.toUpperCase())).toBe('ranura');
    expect(restore(text.toLowerCase())).toBe('ranura');
  });

  it('cannot be restored if one did not come back', () => {
    const { text, restore } = protectTerms('slot and slot', TERMS);
    expect(restore(text.replace(/^\w+/, ''))).toBeUndefined();
    expect(restore(`${text} ${text}`)).toBeUndefined();
  });

  it('have names that are not in the text', () => {
    const { text, restore } = protectTerms('Xqvz slot xqvzaa', TERMS);
    expect(restore(text)).toBe('Xqvz ranura xqvzaa');
  });

  it('leave a text without them as it is', () => {
    expect(protectTerms('nothing here', TERMS).text).toBe('nothing here');
    expect(protectTerms('slot', [])).toMatchObject({ text: 'slot', used: [] });
  });
});
