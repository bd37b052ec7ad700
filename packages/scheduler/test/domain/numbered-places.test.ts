/** Places by key: one key may have several. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NOWHERE, NumberedPlaces } from '../../src/domain/numbered/numbered-places.ts';

const KEYS = ['a', 'b', 'aa', 'bb', 'c'];

function placesOf(places: NumberedPlaces, key: string): number[] {
  const found: number[] = [];
  for (let place = places.find(key); place !== NOWHERE; place = places.another(place)) found.push(place);
  return found;
}

it('finds all places of a key, even if other keys share its number', () => {
  const step = fc.record({ key: fc.constantFrom(...KEYS), isTaking: fc.boolean(), which: fc.nat(3) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const places = new NumberedPlaces((key) => key.length);
      const model = new Map(KEYS.map((key) => [key, [] as number[]]));
      for (const { key, isTaking, which } of steps) {
        const own = model.get(key) ?? [];
        if (isTaking) own.unshift(places.take(key));
        else if (own.length > 0) places.leave(own.splice(which % own.length, 1)[0] as number);
        const taken = [...model.values()].flat();
        expect(new Set(taken).size).toBe(taken.length);
        expect(places.size).toBe(taken.length);
        for (const place of taken) expect(place).toBeLessThan(places.room);
        for (const each of KEYS) {
          const found = placesOf(places, each);
          expect(found.sort()).toEqual([...(model.get(each) ?? [])].sort());
          for (const place of found) expect(places.keyAt(place)).toBe(each);
        }
      }
    }),
  );
});
