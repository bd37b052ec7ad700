/** Large whole numbers as text: as the runtime prints them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { spellWhole } from '../../../src/transport/http/server/spell-whole.ts';

it('prints every whole number as the runtime does', () => {
  fc.assert(
    fc.property(fc.oneof(fc.maxSafeNat(), fc.nat()), (number) => {
      expect(spellWhole(number)).toBe(String(number));
    }),
  );
  for (const number of [
    0,
    999_999_999,
    1_000_000_000,
    1_000_000_001,
    12_000_000_000,
    Number.MAX_SAFE_INTEGER,
  ])
    expect(spellWhole(number)).toBe(String(number));
});
