/** A map whose values come and go: as a Map, whatever is done to it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NumberedMap } from '../../src/domain/numbered-map.ts';

const KEY = fc.constantFrom('a', 'b', 'c', 'd');
const STEP = fc.oneof(
  fc.record({ do: fc.constant('set' as const), key: KEY, value: fc.integer() }),
  fc.record({ do: fc.constant('delete' as const), key: KEY }),
);

it('holds what a Map holds, in the same order', () => {
  fc.assert(
    fc.property(fc.array(STEP, { maxLength: 40 }), (steps) => {
      const [map, model] = [new NumberedMap<string, number>(), new Map<string, number>()];
      for (const step of steps) {
        if (step.do === 'set') {
          map.set(step.key, step.value);
          model.set(step.key, step.value);
        } else expect(map.delete(step.key)).toBe(model.delete(step.key));
        expect([...map.values()]).toEqual([...model.values()]);
        expect(map.size).toBe(model.size);
        for (const key of 'abcd') expect(map.get(key)).toBe(model.get(key));
      }
    }),
  );
});

it('I11 bounded: has as many places as it ever held at once, however many came and went', () => {
  const map = new NumberedMap<number, object>();
  for (let at = 0; at < 1_000; at++) {
    map.set(at, {});
    map.delete(at - 3);
  }
  expect(map.size).toBe(3);
  expect((map as unknown as { held: unknown[] }).held).toHaveLength(4);
});
