/** Tokens are found by their digest in constant time. */
import { describe, expect, it } from 'vitest';
import { createTokenTable, digestToken, type TokenEntry } from '../../../src/transport/access/tokens.ts';

const entry = (token: string, name: string): TokenEntry => ({
  sha256: digestToken(token),
  role: 'node',
  name,
});

const table = (...entries: TokenEntry[]) => createTokenTable(entries, ({ name }) => name);

describe('token table', () => {
  it('a token is found at any position, and no other token is', () => {
    const { find } = table(entry('a', 'first'), entry('b', 'second'), entry('c', 'third'));
    expect(['a', 'b', 'c', 'd', ''].map(find)).toEqual(['first', 'second', 'third', undefined, undefined]);
  });

  it('every row is compared, so the later of two matches is found', () => {
    const { find } = table(entry('a', 'early'), entry('b', 'other'), entry('a', 'late'));
    expect(find('a')).toBe('late');
  });

  it('an invalid digest is refused', () => {
    expect(() => table({ sha256: 'abc', role: 'node' })).toThrow('64 hexadecimal digits');
  });
});
