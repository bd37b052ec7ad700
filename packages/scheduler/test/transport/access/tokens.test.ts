/** Tokens are found by their digest, and looking for one says nothing about the others. */
import { describe, expect, it } from 'vitest';
import { createTokenTable, digestToken, type TokenEntry } from '../../../src/transport/access/tokens.ts';

const entry = (token: string, name: string): TokenEntry => ({
  sha256: digestToken(token),
  role: 'node',
  name,
});

const table = (...entries: TokenEntry[]) => createTokenTable(entries, ({ name }) => name);

describe('a token table', () => {
  it('finds a token wherever it stands, and no other', () => {
    const { find } = table(entry('a', 'first'), entry('b', 'second'), entry('c', 'third'));
    expect(['a', 'b', 'c', 'd', ''].map(find)).toEqual(['first', 'second', 'third', undefined, undefined]);
  });

  it('compares every row, also after a match: of two that match, the later one is found', () => {
    const { find } = table(entry('a', 'early'), entry('b', 'other'), entry('a', 'late'));
    expect(find('a')).toBe('late');
  });

  it('refuses a digest that is not one', () => {
    expect(() => table({ sha256: 'abc', role: 'node' })).toThrow('64 hexadecimal digits');
  });
});
