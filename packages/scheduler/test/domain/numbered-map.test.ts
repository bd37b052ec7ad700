/** A map by numbered keys behaves like a Map under any changes and numbers. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JOB_PREFIX, NAME_CHARS, numberIn, spellNumber } from '../../src/domain/numbered/job-name.ts';
import { NumberedMap } from '../../src/domain/numbered/numbered-map.ts';

const named = (number: number): string => JOB_PREFIX + 'x'.repeat(NAME_CHARS) + spellNumber(number);

/** Neighbouring names, names with the same number, leases of one job, and names of another format. */
const NAMES = [
  named(1),
  named(2),
  named(1).replace('x', 'y'),
  named(1).replace('x', 'z'),
  `${named(2)}:1`,
  `${named(2)}:2`,
  'job-1',
  '1',
  '',
];
const NAME = fc.constantFrom(...NAMES);
const STEP = fc.oneof(
  fc.record({ do: fc.constant('set' as const), name: NAME, value: fc.integer() }),
  fc.record({ do: fc.constant('delete' as const), name: NAME }),
);

it('behaves like a Map', () => {
  fc.assert(
    fc.property(fc.array(STEP, { maxLength: 60 }), (steps) => {
      const [map, model] = [new NumberedMap<number>(numberIn), new Map<string, number>()];
      for (const step of steps) {
        if (step.do === 'set') {
          map.set(step.name, step.value);
          model.set(step.name, step.value);
        } else expect(map.delete(step.name)).toBe(model.delete(step.name));
        expect(map.size).toBe(model.size);
        expect([...map.values()].sort()).toEqual([...model.values()].sort());
        for (const name of NAMES) expect(map.get(name)).toBe(model.get(name));
      }
    }),
  );
});

it('grows and keeps all entries', () => {
  const map = new NumberedMap<number>(numberIn);
  const count = 5_000;
  for (let at = 0; at < count; at++) map.set(named(at), at);
  map.delete(named(7));
  map.set('another', -1);
  expect(map.size).toBe(count);
  for (let at = 0; at < count; at++) expect(map.get(named(at))).toBe(at === 7 ? undefined : at);
});

it('I11 bounded: reuses the places of removed entries', () => {
  const map = new NumberedMap<object>(numberIn);
  for (let at = 0; at < 3_000; at++) {
    map.set(named(at), {});
    map.delete(named(at - 3));
  }
  expect(map.size).toBe(3);
  expect((map as unknown as { held: unknown[] }).held).toHaveLength(4);
});

it('may be changed during an iteration', () => {
  const map = new NumberedMap<number>(numberIn);
  for (let at = 0; at < 4; at++) map.set(named(at), at);
  const seen: number[] = [];
  for (const each of map.values()) {
    seen.push(each);
    map.delete(named(each + 1));
  }
  expect(seen).toEqual([0, 2]);
});
